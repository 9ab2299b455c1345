// A moment in few words, as people say it who look today.
const DAY = 86_400_000;

const day = (time: number): number => {
  const date = new Date(time);
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY;
};

export function when(time: string, now = Date.now()): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return time;
  const clock = new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  const apart = day(at) - day(now);
  const near: Record<number, string> = { [-1]: 'yesterday', 0: 'today', 1: 'tomorrow' };
  const named = near[apart] ?? (apart > 1 && apart < 7 ? new Date(at).toLocaleDateString('en-GB', { weekday: 'long' }) : new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' }));
  return `${named} at ${clock}`;
}
