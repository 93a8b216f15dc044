// From what was looked at to how the cluster is: what is wrong, what may be the cause of the rest first. Pure.

import {conditionOf} from '../../api/conditions.js';
import {ageOf} from '../../api/duration.js';
import type {NodeObject} from '../../api/kinds/node.js';
import {limits} from '../../api/limits.js';
import {dockerNotReady} from '../../api/runtime-class.js';
import type {PersistentVolumeClaim} from '../../api/kinds/persistentvolumeclaim.js';
import {parseUserSystem} from '../../api/user-system.js';
import {isReady} from '../../actors/control/pods/pod-lifecycle.js';
import {shellWord} from '../files/shell-word.js';
import {actorsOf, faultsOf, wrongActors} from './actors.js';
import type {Actors, Counters, Objects, Seen} from './seen.js';
import type {Coming, FaultStatus, NodeStatus, Status, Wrong} from './status.js';
import {isUsers} from './seen.js';
import {whyWrong} from './wrong.js';
import {judgeWorkloads} from './workloads.js';

export function judge(seen: Seen): Status {
	const {server, gitVersion, counters, objects, actors, nowMs} = seen;
	const store = storeOf(counters);
	const faults = faultsOf(actors);
	const workloads = judgeWorkloads(objects, nowMs);
	const told = actorsOf(actors);
	const inTrouble = wrongActors(actors);
	const wrong = [
		...(store.problem === null
			? []
			: [
					{
						about: 'store',
						namespace: null,
						says: `takes no writes: ${store.problem}`,
						next: "look at the server's log, troupe.log in its home",
					},
				]),
		...faults.map(fault => faultIsOn(fault, objects)),
		...objects.nodes.filter(node => !isAwaited(node, actors)).flatMap(node => wrongNode(node, nowMs) ?? []),
		...told.silent.filter(({system}) => !isUsers(system) && !isTold(system, objects, faults)).map(silentSystem),
		...inTrouble.filter(({about}) => !isUsers(systemOf(about))),
		...objects.persistentvolumeclaims.flatMap(claim => lostClaim(claim) ?? []),
		...workloads.wrong,
		// Of what logins run themselves there may be any number: it pushes nothing of the cluster aside.
		...inTrouble.filter(({about}) => isUsers(systemOf(about))),
		...silentUsers(told.silent),
	];
	return {
		state: wrong.length === 0 ? 'well' : 'wrong',
		server: {
			address: server,
			version: gitVersion?.replace(/^.*troupe\./, '') ?? null,
			upMs: actors.control?.upMs ?? null,
			term: counters.store?.epoch ?? null,
		},
		store,
		nodes: objects.nodes.map(nodeStatus),
		pods: podsOf(objects),
		actors: told,
		faults,
		wrong,
		coming: [...objects.nodes.filter(node => isAwaited(node, actors)).map(awaited), ...workloads.coming],
	};
}

const storeOf = ({store}: Counters): Status['store'] => ({
	version: store?.version ?? null,
	waiting: store?.waiting ?? 0,
	problem: store?.problem ?? null,
});

const readyOf = (node: NodeObject) => conditionOf(node.status?.conditions, 'Ready');
const isHeard = (node: NodeObject): boolean => readyOf(node)?.status === 'True';

const nodeStatus = (node: NodeObject): NodeStatus => ({
	name: node.metadata.name,
	ready: isHeard(node),
	cordoned: node.spec?.unschedulable === true,
	since: readyOf(node)?.lastTransitionTime ?? null,
});

/** The control plane has just started, and nodes say hello in their own time. */
const isAwaited = (node: NodeObject, {control}: Actors): boolean =>
	!isHeard(node) && readyOf(node)?.reason === 'NodeStatusUnknown' && control !== undefined && control.upMs < limits.nodeGraceMs;

const awaited = ({metadata: {name}}: NodeObject): Coming => ({
	about: `node/${name}`,
	namespace: null,
	says: 'has not been heard yet since the control plane started',
});

function wrongNode(node: NodeObject, nowMs: number): Wrong | undefined {
	if (isHeard(node)) return withoutDocker(node);
	const ready = readyOf(node);
	const sinceMs = Date.parse(ready?.lastTransitionTime ?? '');
	const lasting = Number.isNaN(sinceMs) ? '' : ` for ${ageOf(Math.max(0, nowMs - sinceMs))}`;
	return whyWrong(
		node,
		ready === undefined ? 'no agent of it was ever heard' : `is not ready${lasting}: ${ready.message ?? ready.reason ?? ''}`,
	);
}

/** Then its pods of Docker neither start nor end. */
function withoutDocker(node: NodeObject): Wrong | undefined {
	const condition = conditionOf(node.status?.conditions, dockerNotReady);
	return condition === undefined ? undefined : whyWrong(node, `runs no pods of Docker now: ${condition.message ?? condition.reason ?? ''}`);
}

/** Whether what keeps its answers away is told by itself: its node is not heard, or a fault cuts it off. */
const isTold = (system: string, {nodes}: Objects, faults: readonly FaultStatus[]): boolean =>
	nodes.some(node => node.metadata.name === system && !isHeard(node)) ||
	faults.some(({place, type}) => place === system && type === 'partition');

const silentSystem = ({system, problem}: Status['actors']['silent'][number]): Wrong => ({
	about: system,
	namespace: null,
	says: `its actors do not answer: ${problem}`,
	next: `troupe tree ${shellWord(system)}`,
});

const systemOf = (place: string): string => place.split('/')[0] ?? '';

/** A line for each login. */
function silentUsers(silent: Status['actors']['silent']): readonly Wrong[] {
	const loginOf = (system: string): string | undefined => parseUserSystem(system)?.login;
	const logins = new Set(silent.flatMap(({system}) => loginOf(system) ?? []));
	return [...logins].flatMap(login => {
		const [first, ...others] = silent.filter(({system}) => loginOf(system) === login).map(silentSystem);
		if (first === undefined || others.length === 0) return first ?? [];
		return {...first, about: login, says: `${others.length + 1} of its systems do not answer, such as ${first.about}`};
	});
}

/** Nobody can end what cuts a node off: `why` tells what it does meanwhile. */
const faultIsOn = ({place, type, text}: FaultStatus, {nodes}: Objects): Wrong => ({
	about: place,
	namespace: null,
	says: `a fault is on: ${text}`,
	next:
		type === 'partition' && nodes.some(node => node.metadata.name === place)
			? `troupe why node/${place}`
			: `troupe fault end ${shellWord(place)}`,
});

function lostClaim(claim: PersistentVolumeClaim): Wrong | undefined {
	return claim.status?.phase === 'Lost' ? whyWrong(claim, 'has lost its volume') : undefined;
}

function podsOf({pods}: Objects): Status['pods'] {
	const phases: {[phase: string]: number} = {};
	for (const {status} of pods) {
		const phase = status?.phase ?? 'Pending';
		phases[phase] = (phases[phase] ?? 0) + 1;
	}
	const ready = pods.filter(isReady).length;
	const over = pods.filter(({status}) => status?.phase === 'Succeeded' || status?.phase === 'Failed').length;
	return {total: pods.length, ready, notReady: pods.length - ready - over, phases};
}
