// From where to where: `POD:PATH` is in a container, everything else is here.

import {usageError} from '../command.js';

export type RemotePlace = {readonly namespace: string | undefined; readonly pod: string; readonly path: string};

export type Copy =
	| {readonly type: 'down'; readonly from: RemotePlace; readonly to: string}
	| {readonly type: 'up'; readonly from: string; readonly to: RemotePlace};

/** Reads `FROM TO`. Throws ERR_USAGE. */
export function readCopy(words: readonly string[]): Copy {
	const [from, to, ...more] = words;
	if (from === undefined || to === undefined || more.length > 0)
		throw usageError('cp takes a source and a destination, as in: troupe cp web:/srv/app.log . or troupe cp ./site web:/srv/site');
	const [source, destination] = [readPlace(from), readPlace(to)];
	if (typeof source === 'string' && typeof destination === 'string')
		throw usageError(`one of the two is in a pod: POD:PATH; got ${from} and ${to}`);
	if (typeof source !== 'string' && typeof destination !== 'string')
		throw usageError('from pod to pod is not one step: copy it here first');
	if (typeof source === 'string') return {type: 'up', from: source, to: destination as RemotePlace};
	return {type: 'down', from: source, to: destination as string};
}

/** What looks like a path is one, whatever it holds; kubectl's `NAMESPACE/POD:PATH` is read, too. */
function readPlace(word: string): RemotePlace | string {
	const colon = word.indexOf(':');
	if (colon < 0 || /^(\/|\.\.?\/|~)/.test(word)) return word;
	const [pod = '', namespace, ...more] = word.slice(0, colon).split('/').reverse();
	const path = word.slice(colon + 1);
	if (pod === '' || namespace === '' || more.length > 0)
		throw usageError(`"${word}" must be POD:PATH; a file here whose name has a colon is written ./${word}`);
	if (path === '') throw usageError(`which path in the pod? as in: ${word}/srv`);
	return {namespace: namespace === 'pod' || namespace === 'pods' ? undefined : namespace, pod, path};
}
