// Pods of tests and benchmarks are processes in the network of their host unless one says otherwise, whatever Engine the machine has and whoever runs them.

/** The words of a command, with the runtime and the network where one that serves a node does not name them. */
export const asProcesses = (words: readonly string[]): readonly string[] => {
	if (!['up', 'agent'].includes(words[0] ?? '')) return words;
	const names = (flag: RegExp): boolean => words.some(word => flag.test(word));
	return [...words, ...(names(/^--(runtime|docker)\b/) ? [] : [processFlag]), ...(names(/^--network\b/) ? [] : ['--network=shared'])];
};

export const processFlag = '--runtime=process';
