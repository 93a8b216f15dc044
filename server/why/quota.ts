// Why a quota refuses, and what is refused by one.

import type {ResourceQuota} from '../../api/kinds/resourcequota.js';
import {objectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {quotaAmount} from '../../api/quota.js';
import {shortTerm} from '../../actors/control/objects/quota-wait.js';
import {conditionOf} from '../../api/conditions.js';
import {conditionsOf, generalFinding} from './common.js';
import {aboutOf, finding, fine, listText, type Evidence, type Finding, type Link, type NextAction} from './finding.js';

export function quotaFinding(object: ApiObject, evidence: Evidence): Finding {
	const general = generalFinding(object);
	if (general !== undefined) return general;
	const {status} = object as ResourceQuota;
	const used = Object.entries(status?.hard ?? {}).map(([name, hard]) => ({
		name,
		hard: String(hard),
		used: String(status?.used?.[name] ?? 0),
	}));
	const full = used.filter(each => (quotaAmount(each.name, each.used) ?? 0) >= (quotaAmount(each.name, each.hard) ?? Infinity));
	const refused = refusedBy(object, evidence);
	const text = ({name, used: is, hard}: (typeof used)[number]): string => `${name} ${is} of ${hard}`;
	if (full.length === 0 && refused.length === 0) return fine(object, `there is room in it: ${listText(used.map(text))} used`);
	return finding(object, {
		state: refused.length > 0 ? 'wrong' : 'waits',
		is: full.length > 0 ? 'is used up' : 'has too little room',
		because: `${listText((full.length > 0 ? full : used).map(text))} used${refused.length === 0 ? '' : `; ${listText(refused.map(aboutOf))} ${refused.length === 1 ? 'waits' : 'wait'} for room`}`,
		below: refused.map(each => ({
			about: aboutOf(each),
			says: conditionOf(conditionsOf(each), 'ReplicaFailure')?.message ?? 'wants more than there is room for',
		})),
		next: {says: 'what waits goes on as soon as there is room, or the quota is larger'},
	});
}

const shown = 3;

/** Workloads that say that it refused them. */
function refusedBy({metadata}: ApiObject, {known, eventsOf}: Evidence): readonly ApiObject[] {
	const {namespace = '', name} = metadata;
	const found: ApiObject[] = [];
	let left: number = limits.whyPods;
	for (const plural of ['replicasets', 'statefulsets', 'daemonsets', 'jobs'])
		for (const each of known.byTerm(plural, shortTerm(namespace))) {
			if (left-- <= 0 || found.length >= shown) return found;
			const event = eventsOf(objectKey(plural, namespace, each.metadata.name)).findLast(({reason}) => reason === 'FailedCreate');
			if (quotaIn(refusalOf(each, event?.message)) === name) found.push(each);
		}
	return found;
}

const refusalOf = (object: ApiObject, event: string | undefined): string | undefined =>
	conditionOf(conditionsOf(object), 'ReplicaFailure')?.message ?? event;

const quotaIn = (message: string | undefined): string | undefined => /exceeded quota: ([a-z0-9.-]+),/.exec(message ?? '')?.[1];

/** What a refused create leads to: its quota, where one refused it. */
export function refusalBelow(message: string, namespace: string, {known}: Evidence): readonly Link[] {
	const name = quotaIn(message);
	if (name === undefined) return [];
	const quota = known.get(objectKey('resourcequotas', namespace, name)) as ResourceQuota | undefined;
	const used = Object.entries(quota?.status?.hard ?? {}).map(
		([resource, hard]) => `${resource} ${String(quota?.status?.used?.[resource] ?? 0)} of ${String(hard)}`,
	);
	return [{about: `resourcequota/${name}`, says: quota === undefined ? 'is gone' : `${listText(used)} used`}];
}

/** The part of a refusal that tells why. */
export const refusalText = (message: string): string => message.replace(/^Error creating: /, '').replace(/^\S+ "[^"]*" is forbidden: /, '');

export const afterRefusal = (message: string): NextAction => ({
	says: quotaIn(message) === undefined ? 'it is tried again with a back-off' : 'it goes on as soon as the quota has room',
});
