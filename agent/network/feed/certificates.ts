// The certificates of routes, as a node's edge hands them on: control tells that one is there, and as which version; here its values are opened, from
// what the node keeps sealed or from a server, and go to what serves and nowhere else.
//
// What it keeps true: until a newer version is opened the one before stays; what could not be opened is tried again, ever more slowly.

import {certificateEntry, privateKeyEntry} from '../../../api/kinds/secret.js';
import type {ObjectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import type {NetworkChange} from '../../../actors/node/runtime/network-port.js';
import type {FetchedSecret, OpenCertificate} from '../../../actors/node/runtime/secrets-port.js';
import type {NetworkCertificate, NetworkObject} from '../../../actors/protocol/network-object.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';

export type NodeCertificates = {
	/** What control has told; undefined: it is there no more. */
	readonly set: (key: ObjectKey, told: NetworkObject | undefined) => void;
	/** As it goes to what serves: with its values, where they are opened. */
	readonly fed: (change: NetworkChange) => NetworkChange;
	readonly close: () => void;
};

export type NodeCertificatesOptions = {
	readonly open: OpenCertificate;
	readonly clock: Clock;
	/** It has its values now, or it is known why not. */
	readonly onOpened: (change: NetworkChange) => void;
};

type Entry = {readonly told: NetworkCertificate; opened: NetworkCertificate; failures: number; cancel: Cancel};

export function createNodeCertificates({open, clock, onOpened}: NodeCertificatesOptions): NodeCertificates {
	const entries = new Map<ObjectKey, Entry>();

	const begin = (key: ObjectKey, entry: Entry): void => {
		const {namespace, name, version} = entry.told;
		open({namespace, name, version}, outcome => {
			if (entries.get(key) !== entry) return;
			if (outcome.ok) entry.opened = {...entry.told, ...openedOf(outcome.value)};
			else if (entry.opened.opened === undefined) entry.opened = {...entry.told, problem: outcome.error.message};
			onOpened({key, object: entry.opened});
			if (outcome.ok && outcome.value.version === version) return;
			const delayMs = Math.min(limits.certificateAgainFirstMs * 2 ** entry.failures, limits.certificateAgainMaxMs);
			entry.failures += 1;
			entry.cancel = clock.after(delayMs, () => begin(key, entry));
		});
	};
	const forget = (key: ObjectKey): void => {
		entries.get(key)?.cancel();
		entries.delete(key);
	};
	return {
		set(key, told) {
			if (told !== undefined && told.type !== 'certificate') return;
			const before = entries.get(key);
			if (told !== undefined && before?.told.version === told.version) return;
			forget(key);
			// One of another type has no values that a node may have.
			if (told === undefined || !told.isTls) return;
			const opened = before?.opened.opened;
			const entry: Entry = {told, opened: opened === undefined ? told : {...told, opened}, failures: 0, cancel: () => undefined};
			entries.set(key, entry);
			begin(key, entry);
		},
		fed(change) {
			const entry = change.object?.type === 'certificate' ? entries.get(change.key) : undefined;
			return entry === undefined ? change : {key: change.key, object: entry.opened};
		},
		close() {
			for (const key of [...entries.keys()]) forget(key);
		},
	};
}

/** What is too large goes nowhere: it has to fit into a message of the feed, and into the memory of what serves. */
function openedOf({data}: FetchedSecret): Pick<NetworkCertificate, 'opened' | 'problem'> {
	const [certificate, privateKey] = [textOf(data[certificateEntry]), textOf(data[privateKeyEntry])];
	const large = certificate.length > limits.certificateBytes ? certificateEntry : privateKeyEntry;
	if (Math.max(certificate.length, privateKey.length) <= limits.certificateBytes) return {opened: {certificate, privateKey}};
	return {opened: {certificate: '', privateKey: ''}, problem: `its ${large} has more than ${limits.certificateBytes} bytes`};
}

const textOf = (base64 = ''): string => Buffer.from(base64, 'base64').toString('latin1');
