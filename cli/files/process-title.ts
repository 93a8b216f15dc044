// What this program is called in a list of processes.

/** `troupe up`. */
export const processTitle = (command: string): string => `troupe ${command}`;
