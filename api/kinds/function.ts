// The kind Function: code that is called, on as many instances as its calls need.

import {ageColumn, column, nameColumn, none} from '../columns/common.js';
import {parseDuration} from '../duration.js';
import {isArtifactDigest, type FunctionRuntime} from '../function-instance.js';
import type {KindDefinition} from '../kind.js';
import {limits} from '../limits.js';
import type {ApiObject, Draft, JsonObject} from '../object.js';
import {checkCommand, checkImage} from '../rules/container.js';
import {checkEnv, checkEnvFrom} from '../rules/env.js';
import {checkTraffic} from '../rules/function-traffic.js';
import {checkFunctionTriggers} from '../rules/function-triggers.js';
import {checkProgramText} from '../rules/program-text.js';
import {itemsOf, membersOf, refuse, type Found} from '../rules/report.js';
import {checkResources} from '../rules/resources.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/function.js';
import {shown} from '../shown.js';

export type FunctionSpec = ShapeOf<typeof spec>;
export type FunctionStatus = ShapeOf<typeof status>;
export type FunctionTrigger = NonNullable<FunctionSpec['triggers']>[number];
export type FunctionObject = ApiObject<FunctionSpec, FunctionStatus>;

const asFunction = (object: ApiObject): FunctionObject => object as FunctionObject;

export const functionKind: KindDefinition = {
	kind: 'Function',
	group: 'troupe.dev',
	version: 'v1',
	plural: 'functions',
	singular: 'function',
	shortNames: ['fn'],
	categories: ['all'],
	namespaced: true,
	defaults: draft => ({...draft, spec: withDefaults(membersOf(draft.spec))}),
	validate,
	initialStatus: () => ({}),
	columns: [
		nameColumn,
		column('Runtime', 'What runs it.', object => runtimeOf(asFunction(object).spec ?? {}) ?? none),
		column('Ready', 'Instances that take calls, of those that there are.', object => readyOf(asFunction(object))),
		column('Max', 'Instances at most.', object => String(asFunction(object).spec?.max ?? limits.functionInstancesDefault)),
		column('Revision', 'The version that is called.', object => String(asFunction(object).status?.revision ?? none)),
		ageColumn,
	],
};

const readyOf = ({status}: FunctionObject): string => `${status?.ready ?? 0}/${status?.instances ?? 0}`;

const withDefaults = (spec: JsonObject): JsonObject => ({
	...spec,
	concurrency: spec['concurrency'] ?? limits.functionConcurrencyDefault,
	max: spec['max'] ?? limits.functionInstancesDefault,
	idle: spec['idle'] ?? `${limits.functionIdleMs / 1_000}s`,
	timeout: spec['timeout'] ?? `${limits.functionTimeoutMs / 1_000}s`,
	revisionHistoryLimit: spec['revisionHistoryLimit'] ?? 10,
	resources: withMemory(membersOf(spec['resources'])),
});

/** Nobody else on the node has to go because a function takes what it gets: what it may have is bounded, also where it does not say how much. */
function withMemory(resources: JsonObject): JsonObject {
	const {limits: most, requests: least} = resources;
	if (membersOf(most)['memory'] !== undefined) return resources;
	return {
		...resources,
		limits: {...membersOf(most), memory: mebibytes(limits.functionMemoryBytes)},
		requests: {memory: mebibytes(limits.functionMemoryRequestBytes), ...membersOf(least)},
	};
}

const mebibytes = (bytes: number): string => `${bytes / 1_048_576}Mi`;

function validate(found: Found, draft: Draft): void {
	const spec = membersOf(draft.spec);
	const {userUploadFilePath: folder, artifact, idle, timeout, env, envFrom, resources, runtime, command} = spec;
	if (folder === undefined && artifact === undefined && command === undefined)
		refuse(
			found,
			'spec.userUploadFilePath',
			'is required without a command: the folder of the code, which troupe apply uploads',
			'FieldValueRequired',
		);
	if (folder === '') refuse(found, 'spec.userUploadFilePath', 'must not be empty', 'FieldValueRequired');
	if (typeof folder === 'string') checkProgramText(found, 'spec.userUploadFilePath', folder);
	if (artifact !== undefined && !isArtifactDigest(artifact))
		refuse(found, 'spec.artifact', 'must be sha256: and 64 hexadecimal digits; troupe apply sets it when it has uploaded the folder');
	if (artifact !== undefined && runtime === undefined && command === undefined)
		refuse(found, 'spec.runtime', 'is required beside artifact: python or nodejs', 'FieldValueRequired');
	checkProgram(found, spec);
	checkInstances(found, spec);
	checkTime(found, 'spec.idle', idle, limits.functionIdleLeastMs, limits.functionIdleMostMs);
	checkTime(found, 'spec.timeout', timeout, 1, limits.functionTimeoutMaxMs);
	checkEnv(found, 'spec.env', env, {container: spec, containers: []});
	checkEnvFrom(found, 'spec.envFrom', envFrom);
	checkResources(found, 'spec.resources', resources);
	checkFunctionTriggers(found, 'spec.triggers', spec['triggers']);
	checkTraffic(found, 'spec.traffic', spec['traffic']);
}

function checkInstances(found: Found, {min, max}: JsonObject): void {
	if (typeof min === 'number' && typeof max === 'number' && min > max)
		refuse(found, 'spec.min', `must be at most max (${max}), got ${min}`);
}

/** What takes the calls, and where it runs. */
function checkProgram(found: Found, {command, runtime, image, runtimeClassName}: JsonObject): void {
	if (command !== undefined) {
		if (itemsOf(command).length === 0) refuse(found, 'spec.command', 'must name a program', 'FieldValueRequired');
		checkCommand(found, 'spec.command', command);
		if (runtime !== undefined)
			refuse(found, 'spec.runtime', 'is of code that is loaded by a runner, and command names a program of its own: leave one of them out');
		if (runtimeClassName === 'docker' && image === undefined)
			refuse(found, 'spec.image', 'is required for a command of class docker: the image that the program runs in', 'FieldValueRequired');
	}
	if (typeof image === 'string') checkImage(found, 'spec.image', image);
	if (image !== undefined && runtimeClassName === 'process')
		refuse(found, 'spec.runtimeClassName', 'must be docker, or left out, beside an image: processes have the files of their node');
}

function checkTime(found: Found, path: string, value: unknown, leastMs: number, mostMs: number): void {
	if (typeof value !== 'string') return;
	const ms = parseDuration(value);
	if (ms === undefined || ms < leastMs || ms > mostMs)
		refuse(found, path, `must be a time from ${leastMs}ms to ${mostMs / 60_000}m, such as 30s or 5m, got ${shown(value)}`);
}

/** Undefined: nobody has said it yet. */
export const runtimeOf = ({command, runtime}: FunctionSpec): FunctionRuntime | undefined => (command === undefined ? runtime : 'program');

/** It names a folder that nobody has uploaded, or needs one. */
export const lacksCode = ({artifact, userUploadFilePath, ...program}: FunctionSpec = {}): boolean =>
	runtimeOf(program) === undefined || (artifact === undefined && (userUploadFilePath !== undefined || program.command === undefined));

export const isOfDocker = ({image, runtimeClassName}: FunctionSpec): boolean => image !== undefined || runtimeClassName === 'docker';

/** What a rule has looked at already, in milliseconds. */
const timeOf = (text: string | undefined, otherwise: number): number =>
	text === undefined ? otherwise : (parseDuration(text) ?? otherwise);

export const idleMsOf = ({idle}: FunctionSpec): number => timeOf(idle, limits.functionIdleMs);
export const timeoutMsOf = ({timeout}: FunctionSpec): number => timeOf(timeout, limits.functionTimeoutMs);
