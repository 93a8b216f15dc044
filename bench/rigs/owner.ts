// Who gives back what was opened: a test, or the scope of a benchmark.

/** Takes what is to be done at its end; the newest first. */
export type Owner = {readonly teardown: (release: () => void | Promise<void>) => void};
