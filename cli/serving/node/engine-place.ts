// Where the Docker Engine of a home was when it answered last, for whoever stops its pods.

import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import type {Home} from '../../files/home.js';

/** Before anything is made there. Throws errno exceptions. */
export function keepEngine(home: Pick<Home, 'engine'>, url: string): void {
	if (engineOf(home) !== url) writeFileSync(home.engine, `${url}\n`, {mode: 0o600});
}

/** Its URL; undefined: none ever answered. */
export const engineOf = ({engine}: Pick<Home, 'engine'>): string | undefined =>
	existsSync(engine) ? readFileSync(engine, 'utf8').trim() : undefined;
