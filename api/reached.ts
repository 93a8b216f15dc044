// Which parts of a graph of names a way leads to.

/** The names of a graph to which a way leads from one of these, themselves among them. Each is asked for what follows it once. */
export function reachedFrom(starts: readonly string[], next: (name: string) => readonly string[]): ReadonlySet<string> {
	const reached = new Set(starts);
	const open = [...starts];
	for (let name = open.pop(); name !== undefined; name = open.pop()) {
		for (const to of next(name)) {
			if (reached.has(to)) continue;
			reached.add(to);
			open.push(to);
		}
	}
	return reached;
}
