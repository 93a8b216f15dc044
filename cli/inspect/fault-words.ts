// The words behind `fault`.

export const faultWords = ['crash', 'slow', 'drop', 'partition', 'pause', 'list', 'end'] as const;
