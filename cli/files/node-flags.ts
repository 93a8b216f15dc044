// What Node is told wherever this program is started for longer: by `--detach`, by benchmarks, and in the same words by `troupe` and `npm start`.

/**
 * New objects of V8 have at most 4 MiB, twice, before it looks which of them are still needed, and not 16: what lives here lives long, and a cluster with
 * a hundred pods has some 15 MiB less in memory for it, at the same time of processors. Half of that again costs time.
 */
export const nodeFlags: readonly string[] = ['--max-semi-space-size=4'];
