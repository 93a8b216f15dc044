// The ids under which logins asked for changes: a message that comes twice is carried out once.

import {limits} from '../../api/limits.js';

export type ChangeIds = {
	/** Whether that login asks for a change under this id for the first time, as far as is remembered. */
	readonly isFirst: (login: string, id: string) => boolean;
};

/** Remembers the newest ids of each login, and of logins those that asked last. */
export function createChangeIds(logins: number = limits.tokens): ChangeIds {
	const byLogin = new Map<string, Set<string>>();
	return {
		isFirst(login, id) {
			const ids = byLogin.get(login) ?? new Set<string>();
			byLogin.delete(login);
			byLogin.set(login, ids);
			for (const oldest of byLogin.keys()) if (byLogin.size > logins) byLogin.delete(oldest);
			if (ids.has(id)) return false;
			ids.add(id);
			for (const oldest of ids) if (ids.size > limits.inspectIds) ids.delete(oldest);
			return true;
		},
	};
}
