// Where a node keeps what it was told, when that is not in its home: said once with `--cache`, and remembered in the home (0600, since
// the place may have a password in it).

import {readFileSync} from 'node:fs';
import path from 'node:path';
import {writeFileAtomic} from '../../../system/files/atomic-file.js';
import {hasCode} from '../../../system/files/errno.js';
import type {Home} from '../../files/home.js';
import {isRedis, shownPlace} from './node-cache.js';

export type CachePlace = {
	readonly place: string;
	/** Remembers it, once it is known to be good; with what a person is to be told. */
	readonly keep: () => Promise<readonly string[]>;
};

/** What was asked for, else what was used last, else the home's own. */
export function cachePlaceOf(home: Home, asked: string | undefined): CachePlace {
	const own = path.join(home.data, 'node');
	const last = placeIn(home.cachePlace) ?? own;
	const place = asked === undefined ? last : isRedis(asked) ? asked : path.resolve(asked);
	return {
		place,
		async keep() {
			if (place === last) return [];
			await writeFileAtomic(home.cachePlace, `${place}\n`, 0o600);
			return [`the cache is ${shownPlace(place)} from now on, also without --cache; before it was ${shownPlace(last)}`];
		},
	};
}

function placeIn(file: string): string | undefined {
	try {
		const text = readFileSync(file, 'utf8').trim();
		return text === '' ? undefined : text;
	} catch (error) {
		if (hasCode(error, 'ENOENT')) return undefined;
		throw error;
	}
}
