// Which served port has a place that several ask for, as two Services with one of their externalIPs in common do: the one that came first, until
// it lets go. Who waits is told then.

export type Claims = {
	/** True: it is the owner's. False: another has it, and `owner` is named by a later `release`. */
	readonly claim: (place: string, owner: string) => boolean;
	readonly holderOf: (place: string) => string | undefined;
	/** Gives up all places of an owner but those; answers with who waited for them. */
	readonly keepOnly: (owner: string, places: ReadonlySet<string>) => readonly string[];
};

export function createClaims(): Claims {
	const holders = new Map<string, string>();
	const waiting = new Map<string, Set<string>>();
	const byOwner = new Map<string, Set<string>>();
	const setOf = <Key>(map: Map<Key, Set<string>>, key: Key): Set<string> => {
		const found = map.get(key) ?? new Set<string>();
		map.set(key, found);
		return found;
	};
	const drop = <Key>(map: Map<Key, Set<string>>, key: Key, value: string): void => {
		const found = map.get(key);
		found?.delete(value);
		if (found?.size === 0) map.delete(key);
	};
	return {
		claim(place, owner) {
			const holder = holders.get(place) ?? owner;
			setOf(byOwner, owner).add(place);
			if (holder === owner) holders.set(place, owner);
			else setOf(waiting, place).add(owner);
			return holder === owner;
		},
		holderOf: place => holders.get(place),
		keepOnly(owner, places) {
			const woken = new Set<string>();
			for (const place of [...(byOwner.get(owner) ?? [])].filter(asked => !places.has(asked))) {
				drop(byOwner, owner, place);
				drop(waiting, place, owner);
				if (holders.get(place) !== owner) continue;
				holders.delete(place);
				for (const waiter of waiting.get(place) ?? []) woken.add(waiter);
			}
			return [...woken];
		},
	};
}
