// Whether what a node says has the shape that its type promises. It comes from another machine: what is not so is refused on
// arrival, since no actor looks again.

import {limits} from '../../api/limits.js';
import {isObject} from '../../api/object.js';
import {itemsOf, membersOf} from '../../api/rules/report.js';
import {isRuntimeClass} from '../../api/runtime-class.js';
import {schemaProblems} from '../../api/schema-problems.js';
import type {Message} from '../../system/kernel/behavior.js';
import {syncProtocol} from './sync-message.js';

type MessageMembers = {readonly [member: string]: unknown};

const haveTexts = (members: MessageMembers, names: readonly string[]): boolean => names.every(name => typeof members[name] === 'string');

/** Everything that is counted here is a count: none below zero, and none that arithmetic would lose. */
const haveNumbers = (members: MessageMembers, names: readonly string[]): boolean => names.every(name => isCount(members[name]));

const isCount = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;

const isListOf = (value: unknown, isItem: (item: unknown) => boolean): boolean => Array.isArray(value) && itemsOf(value).every(isItem);

const holdsTexts = (value: unknown): boolean => isObject(value) && Object.values(value).every(member => typeof member === 'string');

/** Whether a message of node sync has all members of its type; false for types that a node does not send. */
export function isWellFormed(message: Message): boolean {
	const members = message as unknown as MessageMembers;
	switch (message.type) {
		case 'hello':
			return isHello(members);
		case 'deltaTaken':
			return haveTexts(members, ['session']) && haveNumbers(members, ['number']);
		case 'observed':
			return haveTexts(members, ['session']) && haveNumbers(members, ['number']) && isListOf(members['pods'], isObservedPod);
		case 'renewLeases':
			return haveNumbers(members, ['number']) && isListOf(members['pods'], pod => haveTexts(membersOf(pod), ['key', 'uid']));
		case 'podGone':
			return haveTexts(members, ['key', 'uid']);
		case 'volumeRemoval':
			return haveTexts(members, ['key', 'uid']) && (members['problem'] === undefined || typeof members['problem'] === 'string');
		case 'volumeUsage':
			return haveTexts(members, ['key']) && haveNumbers(members, ['usedBytes']);
		default:
			return false;
	}
}

/** Of another protocol nothing more is known than that it is one: it is answered, not read. */
const isHello = (members: MessageMembers): boolean =>
	haveNumbers(members, ['protocol']) && (members['protocol'] !== syncProtocol || isHelloOfToday(members));

const isHelloOfToday = (members: MessageMembers): boolean =>
	haveTexts(members, ['node', 'session', 'lineage']) &&
	haveNumbers(members, ['epoch']) &&
	holdsTexts(members['labels']) &&
	holdsTexts(members['have']) &&
	isRuntimeInfo(membersOf(members['info']));

const isRuntimeInfo = (info: MessageMembers): boolean =>
	haveTexts(info, ['name', 'version', 'hostIP', 'hostBootId', 'os', 'kernel', 'architecture']) &&
	haveNumbers(info, ['cpuMillis', 'memoryBytes', 'maxPods']) &&
	(info['gpus'] === undefined || isCount(info['gpus'])) &&
	(info['localVolumes'] === undefined || typeof info['localVolumes'] === 'string') &&
	isListOf(info['features'], isText) &&
	(info['network'] === undefined || isNetworkInfo(membersOf(info['network']))) &&
	(info['classes'] === undefined || isListOf(info['classes'], isRuntimeClass)) &&
	isListOf(info['conditions'], condition => haveTexts(membersOf(condition), ['type', 'reason', 'message']));

const isText = (value: unknown): boolean => typeof value === 'string';

const isNetworkInfo = ({pods, services, reach, occupied, certificates}: MessageMembers): boolean =>
	(pods === 'shared' || pods === 'routed') &&
	(services === 'proxy' || services === 'nftables') &&
	(reach === undefined || reach === 'direct' || reach === 'relayed') &&
	(certificates === undefined || certificates === true) &&
	(occupied === undefined || (isListOf(occupied, isText) && itemsOf(occupied).length <= limits.occupiedSubnets));

function isObservedPod(pod: unknown): boolean {
	const members = membersOf(pod);
	return (
		haveTexts(members, ['key', 'uid', 'cause']) &&
		isListOf(members['events'], isPodEvent) &&
		schemaProblems('PodStatus', members['status']).length === 0
	);
}

function isPodEvent(event: unknown): boolean {
	const members = membersOf(event);
	return (
		haveTexts(members, ['reason', 'message']) &&
		['fieldPath', 'aspect'].every(name => members[name] === undefined || typeof members[name] === 'string') &&
		(members['finishedAtMs'] === undefined || typeof members['finishedAtMs'] === 'number') &&
		(members['event'] === 'Normal' || members['event'] === 'Warning')
	);
}
