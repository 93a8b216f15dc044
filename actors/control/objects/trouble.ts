// What keeps an object from what it is for, as its status has it, in a line for people who look at actors. Every record is asked at each such
// look, so it reads little. `troupe why` tells the rest.

import type {ContainerStatus, Pod} from '../../../api/kinds/pod.js';
import type {ApiObject, Condition} from '../../../api/object.js';
import {isDeleting} from './garbage.js';

/** A condition of this type and status says so, in objects of every kind. */
const telling: {readonly [type: string]: Condition['status']} = {
	Failed: 'True',
	PodScheduled: 'False',
	Progressing: 'False',
	ReplicaFailure: 'True',
};

/** Undefined where nothing does, and of an object that is being deleted. */
export function troubleOf(object: ApiObject): string | undefined {
	if (isDeleting(object)) return undefined;
	const conditions = (object.status as {readonly conditions?: readonly Condition[]} | undefined)?.conditions ?? [];
	const condition = conditions.find(each => telling[each.type] === each.status || isSilentNode(object, each));
	if (condition !== undefined) return told(condition.reason, condition.message);
	return object.kind === 'Pod' ? troubleOfPod(object as Pod) : undefined;
}

const isSilentNode = ({kind}: ApiObject, {type, status}: Condition): boolean => kind === 'Node' && type === 'Ready' && status !== 'True';

/** A Job counts the pods of its own that failed; nobody else tells of one that belongs to nothing. */
function troubleOfPod({metadata, status}: Pod): string | undefined {
	if (status?.phase === 'Failed')
		return metadata.ownerReferences === undefined ? told(status.reason ?? 'Failed', status.message) : undefined;
	for (const container of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]) {
		const trouble = troubleOfContainer(container);
		if (trouble !== undefined) return `${container.name}: ${trouble}`;
	}
	return undefined;
}

/** What comes by itself has no message. */
function troubleOfContainer({name, state, lastState}: ContainerStatus): string | undefined {
	const {reason = '', message} = state?.waiting ?? {};
	if (message === undefined) return undefined;
	const code = lastState?.terminated?.exitCode;
	return reason === 'CrashLoopBackOff' && code !== undefined
		? told(reason, `exit ${code}`)
		: told(reason, message.replace(`container "${name}" cannot start: `, ''));
}

const told = (reason = '', message = ''): string => [reason, message].filter(text => text !== '').join(': ');
