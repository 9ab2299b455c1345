// One word at a time, as the echo of what this person has just done.
export interface Said {
  text: string;
  isBad?: boolean;
  undo?: () => unknown;
}
const SHOWN_MS = 8000;
let said = $state.raw<Said | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;

export const toast = {
  get said() {
    return said;
  },
};

export function hush(): void {
  clearTimeout(timer);
  said = null;
}

export function say(what: Said): void {
  hush();
  said = what;
  // What went wrong stays until it was read.
  if (!what.isBad) timer = setTimeout(hush, SHOWN_MS);
}
