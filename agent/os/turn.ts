// Between two slices of work whose amount a program chooses everything else has its turn.

export const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));
