// Time between two measurements: nothing is waited for but time itself.

export const pause = (ms: number): Promise<void> => new Promise(resolve => void setTimeout(resolve, ms));
