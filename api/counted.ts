// How many of something, in words. Pure.

/** `1 pod`, `3 pods`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string => `${count} ${count === 1 ? noun : plural}`;
