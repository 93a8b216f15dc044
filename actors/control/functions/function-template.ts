// The pod that an instance of a function is, and the ReplicaSet of a version.

import {
	functionAnnotation,
	functionContainer,
	functionLabel,
	type FunctionInstance,
	type FunctionRuntime,
} from '../../../api/function-instance.js';
import {imageOfLanguage} from '../../../api/function-languages.js';
import {isOfDocker, lacksCode, runtimeOf, timeoutMsOf, type FunctionObject, type FunctionSpec} from '../../../api/kinds/function.js';
import {replicaSet, type ReplicaSet, type ReplicaSetSpec} from '../../../api/kinds/replicaset.js';
import {limits} from '../../../api/limits.js';
import type {Draft} from '../../../api/object.js';
import {isSameTemplate} from '../workloads/template-hash.js';

export type FunctionTemplate = ReplicaSetSpec['template'];

/** With its defaults, as it is kept. Undefined: nobody has uploaded the code. */
export function templateOf({metadata, spec}: FunctionObject): FunctionTemplate | undefined {
	const runtime = runtimeOf(spec ?? {});
	if (spec === undefined || runtime === undefined || lacksCode(spec)) return undefined;
	const {artifact, command, concurrency = limits.functionConcurrencyDefault, env, envFrom, resources} = spec;
	const timeoutMs = timeoutMsOf(spec);
	const instance: FunctionInstance = {...(artifact === undefined ? {} : {artifact}), runtime, concurrency, timeoutMs};
	return withDefaults({
		metadata: {labels: {[functionLabel]: metadata.name}, annotations: {[functionAnnotation]: JSON.stringify(instance)}},
		spec: {
			runtimeClassName: isOfDocker(spec) ? 'docker' : 'process',
			// It answers what is under way before it goes.
			terminationGracePeriodSeconds: Math.ceil((timeoutMs + limits.functionOverdueMs) / 1_000),
			containers: [
				{
					name: functionContainer,
					image: imageOf(spec, runtime),
					// A start from rest asks no registry for what the node has.
					...(isOfDocker(spec) ? {imagePullPolicy: 'IfNotPresent' as const} : {}),
					...(command === undefined ? {} : {command}),
					...(env === undefined ? {} : {env}),
					...(envFrom === undefined ? {} : {envFrom}),
					...(resources === undefined ? {} : {resources}),
				},
			],
		},
	});
}

/** Whether a set is the one of that version. */
export const isOfVersion = ({spec}: ReplicaSet, template: FunctionTemplate | undefined): boolean =>
	spec !== undefined && template !== undefined && isSameTemplate(spec.template, template);

/** Of class process it is a name only. The rules let no program of class docker be without one. */
const imageOf = (spec: FunctionSpec, runtime: FunctionRuntime): string =>
	spec.image ?? (isOfDocker(spec) && runtime !== 'program' ? imageOfLanguage[runtime] : runtime);

function withDefaults(template: FunctionTemplate): FunctionTemplate {
	const draft: Draft = {apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: {}, spec: {selector: {}, template}};
	return (replicaSet.defaults(draft) as ReplicaSet).spec?.template ?? template;
}
