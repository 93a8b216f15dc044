// The environment of a container, as Kubernetes makes it: `envFrom` first, then `env`, where a variable may use those before it as
// `$(NAME)`. Values of ConfigMaps are taken from the node's cache; of Secrets no more than names are known here.
//
// Expansion as in Kubernetes (third_party/forked/golang/expansion): `$(NAME)` of a known variable is replaced, of an unknown
// one kept, `$$` stands for one dollar. Variables that use one another grow without end, so what they become is bounded.

import {hostNameOf} from '../../../api/host-name.js';
import {leaseEpochAnnotation, leaseEpochVariable} from '../../../api/exclusive.js';
import {fieldValue, parseFieldPath} from '../../../api/field-path.js';
import {limits} from '../../../api/limits.js';
import {resourceValue} from '../../../api/resource-field.js';
import type {Container, EnvFromSource, EnvVar, EnvVarSource, KeyRef} from '../../../api/kinds/pod.js';
import type {Known} from '../../../system/index/object-index.js';
import {configMapKey, secretKey} from '../../config-references.js';
import type {Assignment} from '../../protocol/sync-message.js';
import {cachedConfig} from '../cache/config-copy.js';
import type {EnvSource, Sandbox, SecretRef, ValuePart} from '../runtime/runtime-port.js';
import {serviceVariables} from './service-variables.js';

/** The value of a variable: one text, unless Secrets have parts in it. */
export type Value = readonly ValuePart[];
type Variables = ReadonlyMap<string, Value>;

export type Environment = {
	/** In order; later ones win. */
	readonly sources: readonly EnvSource[];
	/** What command and arguments may use. */
	readonly variables: Variables;
};

export type EnvironmentOutcome = {readonly ok: true; readonly value: Environment} | {readonly ok: false; readonly problem: string};

/** What the environment is made from. */
export type EnvironmentInput = {readonly assignment: Assignment; readonly sandbox: Sandbox; readonly known: Known};

type EnvironmentWalk = {
	readonly around: EnvironmentInput;
	readonly container: Container;
	readonly sources: EnvSource[];
	/** What `env` may use: as in Kubernetes not what came by `envFrom`. */
	readonly own: Map<string, Value>;
	readonly all: Map<string, Value>;
	/** Of all texts so far. */
	characters: number;
	/** The first thing that is needed and not there, or that there is too much. */
	problem: string | undefined;
};

/** The complete environment, or what of it is not there. */
export function environmentOf(container: Container, around: EnvironmentInput): EnvironmentOutcome {
	const {env = [], envFrom = []} = container;
	const walk: EnvironmentWalk = {around, container, sources: [], own: new Map(), all: new Map(), characters: 0, problem: undefined};
	for (const [name, value] of standardVariables(around)) set(walk, name, [value]);
	for (const source of envFrom) addEntries(walk, source);
	for (const variable of env) {
		if (walk.problem !== undefined) break;
		const value = valueOf(walk, variable);
		if (value !== undefined) set(walk, variable.name, value);
	}
	const {sources, all, problem} = walk;
	return problem === undefined ? {ok: true, value: {sources, variables: all}} : {ok: false, problem};
}

/** Variables every container gets; the manifest may set them otherwise. */
const standardVariables = ({assignment, sandbox, known}: EnvironmentInput): readonly (readonly [string, string])[] => [
	...(hasNoLinks(assignment.spec) ? [] : serviceVariables(known, assignment.namespace, sandbox)),
	['HOSTNAME', hostNameOf(assignment.name, assignment.spec)],
	['POD_IP', sandbox.podIP],
	['POD_NAME', assignment.name],
	['POD_NAMESPACE', assignment.namespace],
	...Object.entries(assignment.annotations).flatMap(([name, value]): [string, string][] =>
		name === leaseEpochAnnotation ? [[leaseEpochVariable, value]] : [],
	),
];

/** A container with its host's network is as it would be without a cluster. */
const hasNoLinks = ({enableServiceLinks, hostNetwork}: Assignment['spec']): boolean => enableServiceLinks === false || hostNetwork === true;

function set(walk: EnvironmentWalk, name: string, parts: Value): void {
	if (!takes(walk, parts)) return;
	walk.own.set(name, parts);
	walk.all.set(name, parts);
	walk.sources.push(isPlain(parts) ? {name, value: parts.join('')} : {name, parts});
}

function takes(walk: EnvironmentWalk, value: Value): boolean {
	walk.characters += charactersOf(value);
	if (walk.characters <= limits.environmentCharacters) return true;
	walk.problem ??= `the environment is longer than ${limits.environmentCharacters} characters`;
	return false;
}

/** How long a value is, as far as it is known: of a part that a Secret has, its names. */
export const charactersOf = (value: Value): number =>
	value.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : part.secret.length + part.key.length), 0);

export const isPlain = (value: Value): value is readonly string[] => value.every(part => typeof part === 'string');

// ---- envFrom ---------------------------------------------------------------------------------------------------------------

function addEntries(walk: EnvironmentWalk, {prefix = '', configMapRef, secretRef}: EnvFromSource): void {
	if (configMapRef !== undefined) {
		const data = configMapOf(walk, configMapRef) ?? {};
		for (const [key, value] of Object.entries(data)) {
			if (!takes(walk, [value])) return;
			walk.all.set(prefix + key, [value]);
			walk.sources.push({name: prefix + key, value});
		}
	}
	const entriesOf = secretRef === undefined ? undefined : secretOf(walk, secretRef);
	if (entriesOf !== undefined) walk.sources.push({entriesOf, prefix});
}

type ConfigReference = {readonly name: string; readonly optional?: boolean};

function configMapOf(walk: EnvironmentWalk, {name, optional}: ConfigReference): {readonly [key: string]: string} | undefined {
	const {assignment, known} = walk.around;
	const named = cachedConfig(known, configMapKey(assignment.namespace, name))?.named;
	if (named?.type === 'configMap') return named.data ?? {};
	if (optional !== true) walk.problem ??= `configmap "${name}" not found`;
	return undefined;
}

function secretOf(walk: EnvironmentWalk, {name, optional = false}: ConfigReference): SecretRef | undefined {
	const {assignment, known} = walk.around;
	const copy = cachedConfig(known, secretKey(assignment.namespace, name));
	if (copy !== undefined) return {secret: name, version: copy.version, optional};
	if (!optional) walk.problem ??= `secret "${name}" not found`;
	return undefined;
}

// ---- env -------------------------------------------------------------------------------------------------------------------

/** Undefined: the variable is not set, since what it is taken from is optional and not there. */
function valueOf(walk: EnvironmentWalk, {value = '', valueFrom}: EnvVar): Value | undefined {
	return valueFrom === undefined ? expand(value, walk.own) : valueFromSource(walk, valueFrom);
}

function valueFromSource(
	walk: EnvironmentWalk,
	{fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef}: EnvVarSource,
): Value | undefined {
	if (resourceFieldRef !== undefined) return [resourceValue(resourceFieldRef, containerNamed(walk, resourceFieldRef.containerName))];
	if (configMapKeyRef !== undefined) return configMapEntry(walk, configMapKeyRef);
	if (secretKeyRef !== undefined) {
		const secret = secretOf(walk, secretKeyRef);
		return secret === undefined ? undefined : [{...secret, key: secretKeyRef.key, otherwise: undefined}];
	}
	const source = parseFieldPath(fieldRef?.fieldPath ?? ''); // Validation has let no other path through.
	const {assignment, sandbox} = walk.around;
	return [source === undefined ? '' : fieldValue(source, {...assignment, ...sandbox})];
}

/** The container of that name, else the one whose environment it is. */
function containerNamed({container, around: {assignment}}: EnvironmentWalk, name = ''): Container {
	const {containers, initContainers = []} = assignment.spec;
	return [...initContainers, ...containers].find(each => each.name === name) ?? container;
}

function configMapEntry(walk: EnvironmentWalk, reference: KeyRef): Value | undefined {
	const {name, key, optional} = reference;
	const data = configMapOf(walk, reference);
	if (data === undefined) return undefined;
	const value = Object.hasOwn(data, key) ? data[key] : undefined;
	if (value !== undefined) return [value];
	if (optional !== true) walk.problem ??= `couldn't find key ${key} in ConfigMap ${walk.around.assignment.namespace}/${name}`;
	return undefined;
}

// ---- expansion -------------------------------------------------------------------------------------------------------------

/** Replaces `$(NAME)` by the variable's value. It ends early where the value is longer than a whole environment may be. */
export function expand(text: string, variables: Variables): Value {
	const parts: ValuePart[] = [];
	let from = 0;
	let characters = 0;
	for (const match of text.matchAll(/\$(\$|\(([^)]*)\))/g)) {
		const [whole, inner, name = ''] = match;
		const value = inner === '$' ? ['$'] : (variables.get(name) ?? [whole]);
		parts.push(text.slice(from, match.index));
		for (const part of value) parts.push(orElse(part, whole));
		from = match.index + whole.length;
		characters += charactersOf(value);
		if (characters > limits.environmentCharacters) break;
	}
	return joined([...parts, text.slice(from)]);
}

/** What stands where a variable is not set after all: the text that named it. */
const orElse = (part: ValuePart, otherwise: string): ValuePart =>
	typeof part === 'string' ? part : {...part, otherwise: part.otherwise ?? otherwise};

/** Texts that follow each other are one. */
function joined(parts: Value): Value {
	const result: ValuePart[] = [];
	for (const part of parts) {
		const last = result.at(-1);
		if (typeof part === 'string' && typeof last === 'string') result[result.length - 1] = last + part;
		else result.push(part);
	}
	return result;
}
