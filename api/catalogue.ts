// Every kind there is, and the ways to find one by the words people use.

import type {KindDefinition, OlderVersion} from './kind.js';
import {clusterConfig} from './kinds/clusterconfig.js';
import {configMap} from './kinds/configmap.js';
import {controllerRevision} from './kinds/controllerrevision.js';
import {cronJob} from './kinds/cronjob.js';
import {daemonSet} from './kinds/daemonset.js';
import {deployment} from './kinds/deployment.js';
import {dns} from './kinds/dns.js';
import {endpointSlice} from './kinds/endpointslice.js';
import {functionKind} from './kinds/function.js';
import {horizontalPodAutoscaler} from './kinds/horizontalpodautoscaler.js';
import {horizontalPodAutoscalerV1} from './kinds/horizontalpodautoscaler-v1.js';
import {ingress} from './kinds/ingress.js';
import {job} from './kinds/job.js';
import {limitRange} from './kinds/limitrange.js';
import {namespace} from './kinds/namespace.js';
import {networkPolicy} from './kinds/networkpolicy.js';
import {node} from './kinds/node.js';
import {pod} from './kinds/pod.js';
import {persistentVolume} from './kinds/persistentvolume.js';
import {persistentVolumeClaim} from './kinds/persistentvolumeclaim.js';
import {podDisruptionBudget} from './kinds/poddisruptionbudget.js';
import {priorityClass} from './kinds/priorityclass.js';
import {replicaSet} from './kinds/replicaset.js';
import {resourceQuota} from './kinds/resourcequota.js';
import {run} from './kinds/run.js';
import {secret} from './kinds/secret.js';
import {service} from './kinds/service.js';
import {slurmJob} from './kinds/slurmjob.js';
import {statefulSet} from './kinds/statefulset.js';
import {workflow} from './kinds/workflow.js';
import {suggest} from './suggest.js';

export const kinds: readonly KindDefinition[] = [
	namespace,
	node,
	pod,
	replicaSet,
	deployment,
	statefulSet,
	daemonSet,
	controllerRevision,
	service,
	endpointSlice,
	ingress,
	networkPolicy,
	horizontalPodAutoscaler,
	job,
	cronJob,
	configMap,
	secret,
	persistentVolumeClaim,
	persistentVolume,
	priorityClass,
	podDisruptionBudget,
	limitRange,
	resourceQuota,
	functionKind,
	workflow,
	run,
	dns,
	slurmJob,
	clusterConfig,
];

/** Versions that the API serves beside those. */
export const olderVersions: readonly OlderVersion[] = [horizontalPodAutoscalerV1];

/** The version that a kind is of, where it is not the one that is kept. */
export const olderVersionOf = (kind: KindDefinition): OlderVersion | undefined => olderVersions.find(each => each.kind === kind);

/** The kind as its objects are kept. */
export const keptKind = (kind: KindDefinition): KindDefinition => olderVersionOf(kind)?.of ?? kind;

type GroupVersion = Pick<KindDefinition, 'group' | 'version'>;

/** `v1`, `apps/v1`. */
export const apiVersionOf = ({group, version}: GroupVersion): string => (group === '' ? version : `${group}/${version}`);

/** Where the API serves a group: `/api/v1`, `/apis/apps/v1`. */
export const apiRootOf = ({group, version}: GroupVersion): string => (group === '' ? `/api/${version}` : `/apis/${group}/${version}`);

/** The kind as messages name it: `pods`, `replicasets.apps`. */
export const qualifiedPlural = ({plural, group}: Pick<KindDefinition, 'plural' | 'group'>): string =>
	group === '' ? plural : `${plural}.${group}`;

const byPlural = new Map(kinds.map(kind => [kind.plural, kind]));
const byApiVersion = new Map(kinds.map(kind => [`${apiVersionOf(kind)} ${kind.kind}`, kind]));

export const kindByPlural = (plural: string): KindDefinition | undefined => byPlural.get(plural);

/** The kind of a manifest: both words exactly as the catalogue has them. */
export const kindOf = (apiVersion: string, kind: string): KindDefinition | undefined => byApiVersion.get(`${apiVersion} ${kind}`);

/** What a person may call a kind. */
const wordsOf = (kind: KindDefinition): readonly string[] => [kind.plural, kind.singular, ...kind.shortNames];

const byWord = new Map(
	kinds.flatMap(kind => [
		...wordsOf(kind).map((word): [string, KindDefinition] => [word, kind]),
		...wordsOf(kind).map((word): [string, KindDefinition] => [`${word}.${kind.group}`, kind]),
		...wordsOf(kind).map((word): [string, KindDefinition] => [`${word}.${kind.version}.${kind.group}`, kind]),
	]),
);

/** The kind a word of the command line means: plural, singular, short name or Kind in any case; with its group behind a dot if wanted. */
export const findKind = (word: string): KindDefinition | undefined => byWord.get(word.toLowerCase());

/** The word nearest to one that means nothing. */
export const suggestKind = (word: string): string | undefined => suggest(word, kinds.flatMap(wordsOf));
