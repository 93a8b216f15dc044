// Why a pod is as it is.

import {conditionOf} from '../../api/conditions.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import {nodeGraceMs} from '../../actors/control/pods/node-grace.js';
import {isReady} from '../../actors/control/pods/pod-lifecycle.js';
import {runtimeError} from '../../actors/node/containers/container-start.js';
import {isLost} from '../../actors/control/pods/eviction.js';
import {expelling} from '../../actors/control/pods/taint-eviction.js';
import {taintText, toleratedMs} from '../../actors/control/pods/toleration.js';
import {unreachableTaint} from '../../api/rules/taints.js';
import {dispatcherOfNode, handName, nodeKey, podsPath, syncOfNode, schedulerPath} from '../../actors/addresses.js';
import {address, controlSystem, type Address} from '../../api/keys.js';
import {claimKey, claimNamesOf} from '../../actors/config-references.js';
import {awaitingFinding} from './awaiting.js';
import {claimFinding, waitsForPod} from './claim.js';
import {containerTitle, crashFinding, lastEnd, unreadyFinding, waitFinding, type ContainerFinding} from './container.js';
import {deletionOf, firstStuck, parkedFinding, stuckActor} from './common.js';
import {
	clause,
	counted,
	finding,
	fine,
	keyOf,
	lengthText,
	timeOf,
	type Evidence,
	type Finding,
	type Link,
	type NextAction,
} from './finding.js';
import {cutOff, isSilent, nodeFinding} from './node.js';
import {troubleOf, troubleText, type PodTrouble, type Troubled} from './trouble.js';

/** `named`: the sentence is about something else, so its parts say of which pod they are. */
export function podFinding(pod: Pod, evidence: Evidence, named = false): Finding {
	const found = troubleOf(pod, evidence.nowMs);
	return found === undefined ? healthy(pod, evidence) : troubled(pod, found, evidence, named);
}

/** Why, as a clause that says which pod it is about. */
export function becauseOfPod({metadata: {name}}: Pod, {because}: Finding): string {
	const isNamed = because
		.split(`pod ${name}`)
		.slice(1)
		.some(rest => !/^[a-z0-9-]/.test(rest));
	return because === '' || isNamed ? because : `pod ${name}: ${because}`;
}

function troubled(pod: Pod, found: PodTrouble, evidence: Evidence, named: boolean): Finding {
	const {trouble, container} = found;
	switch (trouble) {
		case 'parked':
			return parkedFinding(pod);
		case 'leaving':
			return leaving(pod, evidence);
		case 'failed':
			return failed(pod, container, evidence, named);
		case 'awaiting':
		case 'unplaced':
			return unplaced(pod, evidence);
		case 'unheard':
			return unheard(pod, evidence);
		case 'starting':
			return starting(pod, container, evidence, named);
		case 'crashes':
		case 'unstartable':
		case 'unconfigured':
		case 'unmounted':
		case 'unleased':
		case 'initialising':
		case 'unready':
			return container === undefined ? starting(pod, undefined, evidence, named) : ofContainer(pod, found, container, evidence, named);
	}
}

// ---- its containers --------------------------------------------------------------------------------------------------------

function ofContainer(pod: Pod, {trouble}: PodTrouble, container: Troubled, evidence: Evidence, named: boolean): Finding {
	const {nowMs} = evidence;
	const look = {pod, container, events: evidence.eventsOf(keyOf(pod)), nowMs};
	if (trouble === 'initialising') return initialising(pod, container, evidence);
	const isProbed = trouble === 'unready';
	const unready = isProbed ? unreadyFinding(look) : undefined;
	const told: ContainerFinding = unready ?? (trouble === 'crashes' ? crashFinding(look) : waitFinding(look));
	const node = nodeOf(pod, evidence);
	const missing = trouble === 'unconfigured' || trouble === 'unmounted' ? claimsBelow(pod, evidence) : [];
	return finding(pod, {
		state: unready?.isWrong === false || trouble === 'unleased' ? 'waits' : 'wrong',
		is: troubleText[trouble][0],
		because: `${subjectOf(container, pod, named)} ${told.what}`,
		says: standing(pod, troubleText[trouble][0]),
		below: [told.link, ...missing, ...(node === undefined ? [] : (cutOff(node, evidence)?.chain ?? []))],
		next: told.next ?? (trouble === 'unconfigured' ? {says: 'it starts as soon as that is there'} : undefined),
	});
}

const subjectOf = (container: Troubled, {metadata}: Pod, named: boolean): string =>
	`${named ? '' : 'its '}${containerTitle(container)}${named ? ` of pod ${metadata.name}` : ''}`;

/** Where it is, how often it was restarted, how many of its containers are ready. */
function standing({spec, status}: Pod, is: string): string {
	const all = status?.containerStatuses ?? [];
	const restarts = [...all, ...(status?.initContainerStatuses ?? [])].reduce((sum, {restartCount}) => sum + restartCount, 0);
	const parts = [
		is,
		spec?.nodeName === undefined ? '' : `on node ${spec.nodeName}`,
		restarts === 0 ? '' : counted(restarts, 'restart'),
		`${all.filter(({ready}) => ready).length} of ${counted(spec?.containers.length ?? 0, 'container')} ready`,
	];
	return parts.filter(part => part !== '').join(', ');
}

function initialising(pod: Pod, container: Troubled, {nowMs}: Evidence): Finding {
	const sinceMs = timeOf(container.status.state?.running?.startedAt);
	const what = `its ${containerTitle(container)} ${sinceMs === undefined ? 'runs' : `has run for ${lengthText(nowMs - sinceMs)}`}`;
	return finding(pod, {
		state: 'waits',
		is: 'is being initialised',
		because: what,
		next: {says: `its containers start once ${containerTitle(container)} has ended with 0`},
	});
}

/** It has its node, and nothing was heard of its containers, or they are on their way. */
function starting(pod: Pod, container: Troubled | undefined, evidence: Evidence, named: boolean): Finding {
	const node = nodeOf(pod, evidence);
	const of = named ? `pod ${pod.metadata.name}` : 'it';
	if (node === undefined || isSilent(node) || cutOff(node, evidence) !== undefined) return onSilentNode(pod, node, evidence);
	const {name} = node.metadata;
	const stuck =
		stuckActor(handOf(pod, name), evidence) ?? firstStuck([address(name, podsPath), syncOfNode(name), dispatcherOfNode(name)], evidence);
	if (stuck !== undefined)
		return finding(pod, {state: 'wrong', is: 'is not started', because: stuck.because, below: [stuck.link], next: stuck.next});
	const {reason, message} = pod.status ?? {};
	if (reason !== undefined && message !== undefined)
		return finding(pod, {
			state: 'wrong',
			is: 'cannot start',
			because: message,

			says: `${reason}: ${message}`,
		});
	const what =
		container === undefined
			? `${of} is bound to node ${node.metadata.name}, which has not said anything of it yet`
			: `${subjectOf(container, pod, named)} ${waitFinding({pod, container, events: [], nowMs: evidence.nowMs}).what}`;
	return finding(pod, {state: 'waits', is: 'is starting', because: what});
}

const handOf = ({metadata}: Pod, node: string): Address => address(node, `${podsPath}/${handName({namespace: '', ...metadata})}`);

function failed(pod: Pod, container: Troubled | undefined, evidence: Evidence, named: boolean): Finding {
	const {reason, message} = pod.status ?? {};
	const told =
		container === undefined || lastEnd(container.status) === undefined
			? undefined
			: crashFinding({pod, container, events: evidence.eventsOf(keyOf(pod)), nowMs: evidence.nowMs});
	const own = message ?? reason;
	const isOwned = pod.metadata.ownerReferences?.some(({controller}) => controller === true) === true;
	return finding(pod, {
		state: 'wrong',
		is: 'failed',
		because: own ?? (told === undefined || container === undefined ? '' : `${subjectOf(container, pod, named)} ${told.what}`),
		says: standing(pod, own === undefined ? 'failed' : `failed: ${own}`),
		below: told === undefined ? [] : [told.link],
		next: told?.next ?? (isOwned ? undefined : {says: 'nothing: a pod that has failed is not started again'}),
	});
}

// ---- its place -------------------------------------------------------------------------------------------------------------

function unplaced(pod: Pod, evidence: Evidence): Finding {
	const condition = conditionOf(pod.status?.conditions, 'PodScheduled');
	const {nominatedNodeName} = pod.status ?? {};
	if (nominatedNodeName !== undefined)
		return finding(pod, {
			state: 'waits',
			is: 'has no node yet',
			because: `pods of a lower priority leave node ${nominatedNodeName} for it`,
			next: {says: `it is bound to node ${nominatedNodeName} once they are gone`},
		});
	const stuck = stuckActor(address(controlSystem, schedulerPath), evidence);
	const isLookedAt = condition?.status === 'False' && condition.reason !== unlookedAt;
	if (stuck !== undefined)
		return finding(pod, {
			state: 'wrong',
			is: 'has no node',
			// What the scheduler has said keeps the pod without one; that it may not look again comes after.
			because: isLookedAt ? `${condition.message ?? ''}; and ${stuck.because}` : stuck.because,
			...(isLookedAt ? {says: clause('has no node', condition.message ?? ''), atMs: timeOf(condition.lastTransitionTime)} : {}),
			below: [...(isLookedAt ? claimsBelow(pod, evidence) : []), stuck.link],
			next: stuck.next,
		});
	if (!isLookedAt)
		return finding(pod, {
			state: 'waits',
			is: 'has no node yet',
			because: 'the scheduler has not looked at it',
			next: {says: 'the scheduler looks at it'},
		});
	const awaiting = evidence.isGone ? undefined : awaitingFinding(pod, evidence);
	if (awaiting !== undefined) return awaiting;
	const below = claimsBelow(pod, evidence);
	const claim = below[0];
	const message = condition.message ?? '';
	return finding(pod, {
		state: 'wrong',
		is: 'has no node',
		// Kubernetes' words name no claim.
		because: claim !== undefined && message === unboundText ? `its claim ${claim.about.replace(/^.*\//, '')} ${claim.says}` : message,
		says: clause('has no node', message),
		atMs: timeOf(condition.lastTransitionTime),
		below,
		next: {
			says:
				claim === undefined
					? 'the scheduler tries again when a node or a pod changes'
					: `the scheduler tries again when ${claim.about} is ${claim.says === missing ? 'there' : 'bound'}`,
		},
	});
}

/** The reason that a new pod begins with. */
const unlookedAt = 'Unscheduled';
const unboundText = 'pod has unbound immediate PersistentVolumeClaims';
const missing = 'is not there';

/** The claims of the pod that it waits for, with why. */
function claimsBelow({metadata, spec}: Pod, evidence: Evidence): readonly Link[] {
	const {namespace = ''} = metadata;
	for (const name of spec === undefined ? [] : claimNamesOf(spec)) {
		const claim = evidence.known.get(claimKey(namespace, name));
		if (claim === undefined) return [{about: `persistentvolumeclaim/${name}`, says: missing}];
		if (waitsForPod(claim)) continue;
		const found = claimFinding(claim, evidence);
		if (found.state !== 'fine') return found.chain;
	}
	return [];
}

const nodeOf = ({spec}: Pod, {known}: Evidence): NodeObject | undefined =>
	known.get(nodeKey(spec?.nodeName ?? '')) as NodeObject | undefined;

const unheard = (pod: Pod, evidence: Evidence): Finding => onSilentNode(pod, nodeOf(pod, evidence), evidence);

function onSilentNode(pod: Pod, node: NodeObject | undefined, evidence: Evidence): Finding {
	const name = pod.spec?.nodeName ?? '';
	const message =
		conditionOf(pod.status?.conditions, 'Ready')?.reason === 'NodeLost' ? conditionOf(pod.status?.conditions, 'Ready')?.message : undefined;
	if (node === undefined)
		return finding(pod, {
			state: 'wrong',
			is: 'is on a node that is not there',
			because: message ?? `there is no node ${name}`,
			next: {says: `it starts when a node ${name} joins`},
		});
	const found = nodeFinding(node, evidence);
	const cut = cutOff(node, evidence);
	return finding(pod, {
		state: 'wrong',
		is: cut === undefined ? 'is on a node that is not heard' : 'is on a node that is cut off',
		because: (cut === undefined ? message : undefined) ?? `node ${name} ${found.is}${found.because === '' ? '' : `: ${found.because}`}`,
		below: found.chain,
		next: replacement(pod, node, evidence) ?? found.next,
	});
}

/** When a pod of a lost node is replaced. */
function replacement(pod: Pod, node: NodeObject, {known}: Evidence): NextAction | undefined {
	if (!isLost(node) || pod.metadata.ownerReferences === undefined) return undefined;
	const taint = node.spec?.taints?.find(({key}) => key === unreachableTaint);
	const tolerated = toleratedMs(pod, {key: unreachableTaint, effect: 'NoExecute'}) ?? nodeGraceMs(known);
	if (!Number.isFinite(tolerated)) return {says: 'it stays: it tolerates a lost node for ever'};
	const sinceMs = timeOf(taint?.timeAdded);
	return {says: 'it is replaced on another node', ...(sinceMs === undefined ? {} : {atMs: sinceMs + tolerated})};
}

// ---- its end, and its health -----------------------------------------------------------------------------------------------

function leaving(pod: Pod, evidence: Evidence): Finding {
	const {metadata, status} = pod;
	const target = conditionOf(status?.conditions, 'DisruptionTarget');
	const node = nodeOf(pod, evidence);
	const why = target?.status === 'True' ? (target.message ?? target.reason) : undefined;
	const dueMs = timeOf(metadata.deletionTimestamp);
	const {finalizers = []} = metadata;
	if (pod.spec?.nodeName !== undefined && node !== undefined && isSilent(node) && metadata.deletionGracePeriodSeconds !== 0) {
		const found = onSilentNode(pod, node, evidence);
		return {
			...found,
			is: 'is being deleted, and its node is not heard',
			next: {says: `it goes when node ${node.metadata.name} is heard, or is lost for long enough`},
		};
	}
	if (finalizers.length > 0 && metadata.deletionGracePeriodSeconds === 0) return deletionOf(pod);
	const stuck = node === undefined || evidence.isGone ? undefined : stuckActor(handOf(pod, node.metadata.name), evidence);
	if (stuck !== undefined)
		return finding(pod, {
			state: 'wrong',
			is: 'is being deleted, and not looked after',
			because: stuck.because,
			below: [stuck.link],
			next: stuck.next,
		});
	const isLate = dueMs !== undefined && dueMs < evidence.nowMs;
	const obstacle = isLate ? obstacleToEnd(pod) : undefined;
	if (obstacle !== undefined)
		return finding(pod, {
			state: 'wrong',
			is: 'is being deleted',
			because: `its node cannot end it: ${obstacle}`,
			next: {says: 'it is tried again with a back-off'},
		});
	return finding(pod, {
		state: 'waits',
		is: 'is being deleted',
		because: why ?? (isLate ? 'its programs do not end' : `its programs have ${metadata.deletionGracePeriodSeconds ?? 0} s to end`),
		says: `is being deleted${why === undefined ? '' : `: ${why}`}; ${isLate ? 'its time is over' : 'its programs have time to end'}`,
		next: isLate
			? {says: 'its programs are killed'}
			: {says: 'what still runs of it is killed', ...(dueMs === undefined ? {} : {atMs: dueMs})},
	});
}

/** What its runtime said when it was to stop a container or to remove the sandbox. */
function obstacleToEnd({status}: Pod): string | undefined {
	const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
	const ofContainer = all.find(({state}) => state?.waiting?.reason === runtimeError)?.state?.waiting?.message;
	return ofContainer ?? (status?.reason === 'SandboxFailed' ? status.message : undefined);
}

function healthy(pod: Pod, evidence: Evidence): Finding {
	const {status, spec} = pod;
	if (status?.phase === 'Succeeded') return finding(pod, {state: 'over', is: 'is over', because: 'all its containers ended well'});
	const node = nodeOf(pod, evidence);
	if (node !== undefined && (isSilent(node) || cutOff(node, evidence) !== undefined)) return onSilentNode(pod, node, evidence);
	const sinceMs = timeOf(conditionOf(status?.conditions, 'Ready')?.lastTransitionTime);
	const isLasting = sinceMs !== undefined && isReady(pod);
	const restarted = restartsText(pod, evidence);
	const next = expulsion(pod, node, evidence.nowMs);
	return fine(
		pod,
		`it ${isLasting ? `has been ready for ${lengthText(evidence.nowMs - sinceMs)}` : 'is ready'} on node ${spec?.nodeName ?? ''}${restarted}`,
		next === undefined ? {} : {next},
	);
}

/** The last thing that went wrong, though it is well now. */
function restartsText(pod: Pod, evidence: Evidence): string {
	const status = pod.status?.containerStatuses?.find(({restartCount}) => restartCount > 0);
	if (status === undefined) return '';
	const told = crashFinding({pod, container: {status, isInit: false}, events: evidence.eventsOf(keyOf(pod)), nowMs: evidence.nowMs});
	const finishedMs = timeOf(lastEnd(status)?.finishedAt);
	const ago = finishedMs === undefined ? '' : ` ${lengthText(evidence.nowMs - finishedMs)} ago`;
	return `; its container ${status.name} was restarted${ago}: it ${told.what}`;
}

/** A taint of its node that it tolerates for a time. */
function expulsion(pod: Pod, node: NodeObject | undefined, nowMs: number): NextAction | undefined {
	for (const taint of expelling(node)) {
		const ms = toleratedMs(pod, taint);
		if (ms === undefined || !Number.isFinite(ms)) continue;
		const boundMs = timeOf(conditionOf(pod.status?.conditions, 'PodScheduled')?.lastTransitionTime) ?? 0;
		return {
			says: `it has to leave, since it tolerates the taint ${taintText(taint)} for a time only`,
			atMs: Math.max(timeOf(taint.timeAdded) ?? nowMs, boundMs) + ms,
		};
	}
	return undefined;
}
