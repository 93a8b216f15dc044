// Why an object is as it is: the answer in a sentence, the chain that leads to it, and what comes next. Pure: from what is committed, what was
// told of it, and nothing else.

import {conditionOf} from '../../api/conditions.js';
import {objectAddress, type ObjectKey} from '../../api/keys.js';
import type {ApiObject} from '../../api/object.js';
import {configTerm} from '../../actors/config-references.js';
import {scalerOf} from '../../actors/control/autoscaling/scale-target.js';
import {isDeleting} from '../../actors/control/objects/garbage.js';
import {autoscalerFinding} from './autoscaler.js';
import {claimFinding, volumeFinding} from './claim.js';
import {budgetFinding} from './budget.js';
import {conditionsOf, generalFinding, stuckActor} from './common.js';
import {daemonSetFinding} from './daemonset.js';
import {deploymentFinding} from './deployment.js';
import {aboutOf, counted, finding, fine, keyOf, titleOf, type Evidence, type Finding, type Link} from './finding.js';
import {cronJobFinding, jobFinding} from './job.js';
import {functionFinding} from './function.js';
import {namespaceFinding} from './namespace.js';
import {nodeFinding} from './node.js';
import {podFinding} from './pod.js';
import {quotaFinding} from './quota.js';
import {replicaSetFinding} from './replicaset.js';
import {runFinding} from './run.js';
import {slurmJobFinding} from './slurmjob.js';
import {statefulSetFinding} from './statefulset.js';
import {workflowFinding} from './workflow.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';

type Finder = (object: ApiObject, evidence: Evidence) => Finding;

const finders: {readonly [kind: string]: Finder} = {
	Pod: (object, evidence) => podFinding(object as Pod, evidence),
	ReplicaSet: (object, evidence) => replicaSetFinding(object, evidence),
	Deployment: deploymentFinding,
	SlurmJob: slurmJobFinding,
	StatefulSet: statefulSetFinding,
	DaemonSet: daemonSetFinding,
	Job: jobFinding,
	CronJob: cronJobFinding,
	PersistentVolumeClaim: claimFinding,
	PersistentVolume: volumeFinding,
	Node: (object, evidence) => nodeFinding(object as NodeObject, evidence),
	Namespace: namespaceFinding,
	PodDisruptionBudget: budgetFinding,
	ResourceQuota: quotaFinding,
	Function: functionFinding,
	HorizontalPodAutoscaler: autoscalerFinding,
	Run: runFinding,
	Workflow: workflowFinding,
	ConfigMap: named,
	Secret: named,
};

/** What is so of an object, from symptom to cause. */
export const causeOf = (object: ApiObject, evidence: Evidence): Finding => scaledBy(object, causeAfter([], object, evidence), evidence);

/** Who says how many there are to be, where an autoscaler does. */
function scaledBy(object: ApiObject, cause: Finding, {known, isGone}: Evidence): Finding {
	const hpa = isGone || isDeleting(object) ? undefined : scalerOf(keyOf(object), known);
	if (hpa === undefined) return cause;
	const {state, because, chain} = cause;
	return {
		...cause,
		because: state === 'fine' ? `${because}; ${aboutOf(hpa)} says how many there are` : because,
		chain: [...chain.slice(0, 1), ...autoscalerFinding(hpa).chain.slice(0, 1), ...chain.slice(1)],
	};
}

/** Pods that wait for others that wait for others: so far the way is followed. */
const mostWaits = 8;

/** The cause, on a way that has been at other objects: a circle of them ends it. */
function causeAfter(before: readonly ObjectKey[], object: ApiObject, evidence: Evidence): Finding {
	const way = [...before, keyOf(object)];
	const isOver = (other: ApiObject): boolean => way.length > mostWaits || way.includes(keyOf(other));
	return found(object, {...evidence, causeOf: other => (isOver(other) ? undefined : causeAfter(way, other, evidence))});
}

function found(object: ApiObject, evidence: Evidence): Finding {
	const stuck = evidence.isGone ? undefined : stuckActor(objectAddress(keyOf(object)), evidence);
	const isTold = conditionOf(conditionsOf(object), 'ActorFailed')?.status === 'True';
	if (stuck !== undefined && !isTold)
		return finding(object, {state: 'wrong', is: 'is not looked after', because: stuck.because, below: [stuck.link], next: stuck.next});
	const finder = finders[object.kind];
	if (finder !== undefined) return finder(object, evidence);
	return generalFinding(object) ?? fine(object, 'it is kept as it was written');
}

/** A ConfigMap or Secret: of what is in it nothing is said. */
function named(object: ApiObject, {known}: Evidence): Finding {
	const pods = known.countByTerm('pods', configTerm(keyOf(object)));
	return (
		generalFinding(object) ??
		fine(object, pods === 0 ? 'no pod that has a node names it' : `${counted(pods, 'pod')} ${pods === 1 ? 'names' : 'name'} it`)
	);
}

// ---- the answer ------------------------------------------------------------------------------------------------------------

/** Of the last words the answer has so many characters; the chain has all that were read. */
const shownWords = 160;

/** The finding in a sentence. */
export function answerOf(object: ApiObject, {state, is, because, chain}: Finding): string {
	const title = titleOf(object);
	if (state === 'fine') return `Nothing is wrong with ${title}: ${because}.`;
	const words = lastWords(chain);
	const text = because === '' ? `${title} ${is}` : `${title} ${is}: ${because}`;
	return `${text.replace(/\.$/, '')}${words === undefined ? '' : `; its last words: \`${words}\``}.`;
}

/** What Node.js ends with when nobody has caught an error, below the error itself. */
const nodeVersion = /^Node\.js v\d/;
const errorLine = /^(?:Uncaught )?\w*(?:Error|Exception)\b/;

/** The last line of a log that says something. */
function lastWords(chain: readonly Link[]): string | undefined {
	const lines = (chain.find(each => each.lines !== undefined)?.lines ?? []).map(line => line.trim()).filter(line => line !== '');
	const last = lines.at(-1);
	const line = last !== undefined && nodeVersion.test(last) ? (lines.findLast(each => errorLine.test(each)) ?? last) : last;
	if (line === undefined) return undefined;
	return line.length > shownWords ? `${line.slice(0, shownWords)}…` : line;
}
