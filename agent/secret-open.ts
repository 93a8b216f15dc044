// Opens Secrets one after the other, at the runtime's edge.

import {succeeded, type Outcome} from '../api/errors.js';
import type {SecretRef} from '../actors/node/runtime/runtime-port.js';
import type {NodeSecrets, SecretData} from '../actors/node/runtime/secrets-port.js';

/** By the Secret's name; undefined: it is not there. */
export type OpenedSecrets = ReadonlyMap<string, SecretData | undefined>;

/** Each Secret once. Whether one may be missing is looked at where it is used. Calls back once; at once when none is named. */
export function openSecrets(
	refs: readonly SecretRef[],
	namespace: string,
	secrets: NodeSecrets,
	done: (outcome: Outcome<OpenedSecrets>) => void,
): void {
	const wanted = [...new Map(refs.map(ref => [ref.secret, ref])).values()];
	const opened = new Map<string, SecretData | undefined>();
	const openNext = (): void => {
		const ref = wanted.find(({secret}) => !opened.has(secret));
		if (ref === undefined) return done(succeeded(opened));
		secrets.open({namespace, name: ref.secret, version: ref.version}, outcome => {
			if (!outcome.ok && outcome.error.code !== 'ERR_CONFIG_MISSING') return done(outcome);
			opened.set(ref.secret, outcome.ok ? outcome.value : undefined);
			openNext();
		});
	};
	openNext();
}

/** As kubectl describe shows it. */
export const secretMissing = (secret: string): string => `secret "${secret}" not found`;

export const keyMissing = (key: string, namespace: string, secret: string): string =>
	`couldn't find key ${key} in Secret ${namespace}/${secret}`;
