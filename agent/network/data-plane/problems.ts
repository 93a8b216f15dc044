// What a data plane cannot do, for people: by key, so that each may end.

export type Problems = {
	/** Undefined: it is over. */
	readonly set: (key: string, problem: string | undefined) => void;
	readonly list: () => readonly string[];
	readonly onChange: (listener: () => void) => void;
};

export function createProblems(): Problems {
	const problems = new Map<string, string>();
	const listeners: (() => void)[] = [];
	return {
		set(key, problem) {
			if (problems.get(key) === problem) return;
			if (problem === undefined) problems.delete(key);
			else problems.set(key, problem);
			for (const listener of listeners) listener();
		},
		list: () => [...problems.values()],
		onChange: listener => void listeners.push(listener),
	};
}
