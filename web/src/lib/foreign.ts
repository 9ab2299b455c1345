// The texts of others. Characters that nobody sees are shown by their numbers, as people must be
// able to tell what a text really says.

export interface Piece {
  text: string;
  isUnseen: boolean;
}

// Format characters, fillers and controls but for tab and line break.
const UNSEEN =
  /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb]|[\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}])/u;

export const LONGEST = 16 * 1024;

export function pieces(text: string): Piece[] {
  const cut = text.length > LONGEST ? text.slice(0, LONGEST) + '…' : text;
  const parts = cut.split(UNSEEN);
  return parts
    .map((part, index) =>
      index % 2 === 1 ? { text: 'U+' + part.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0'), isUnseen: true } : { text: part, isUnseen: false },
    )
    .filter(piece => piece.text !== '');
}
