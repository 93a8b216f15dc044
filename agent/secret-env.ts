// The one place where Secrets become an environment: at a container's start, for its program alone.

import {failed, succeeded, type Outcome} from '../api/errors.js';
import {limits} from '../api/limits.js';
import {valueOr} from '../api/value-or.js';
import type {ContainerSpec, EnvSource, EnvVariable, OpenedSpec, SecretRef, ValuePart} from '../actors/node/runtime/runtime-port.js';
import type {NodeSecrets} from '../actors/node/runtime/secrets-port.js';
import {keyMissing, openSecrets, secretMissing, type OpenedSecrets} from './secret-open.js';

/** What a text or a variable becomes; undefined: it is not set. `missing` says what is needed and not there, or that there is too much. */
type Expanded<Value> = {readonly value: Value} | {readonly missing: string};

/** The spec with all Secrets in its environment; `ERR_CONFIG_MISSING` says what is not there. Calls back once; at once when it names none. */
export function openSpec(spec: ContainerSpec, secrets: NodeSecrets, done: (outcome: Outcome<OpenedSpec>) => void): void {
	openSecrets(spec.env.flatMap(refsIn), spec.namespace, secrets, opened => done(opened.ok ? assembled(spec, opened.value) : opened));
}

function refsIn(source: EnvSource): readonly SecretRef[] {
	if ('entriesOf' in source) return [source.entriesOf];
	return 'parts' in source ? source.parts.filter(part => typeof part !== 'string') : [];
}

function assembled(spec: ContainerSpec, opened: OpenedSecrets): Outcome<OpenedSpec> {
	const env: EnvVariable[] = [];
	let characters = 0;
	for (const source of spec.env) {
		const found = variablesOf(source, spec.namespace, opened);
		if ('missing' in found) return failed('ERR_CONFIG_MISSING', {message: found.missing});
		for (const variable of found.value) {
			env.push(variable);
			characters += variable.value.length;
		}
		if (characters > limits.environmentCharacters) return failed('ERR_CONFIG_MISSING', {message: tooLong});
	}
	return succeeded({...spec, env: [...new Map(env.map(variable => [variable.name, variable])).values()]});
}

function variablesOf(source: EnvSource, namespace: string, opened: OpenedSecrets): Expanded<readonly EnvVariable[]> {
	if ('entriesOf' in source) return entriesOf(source.entriesOf, source.prefix, namespace, opened);
	if (!('parts' in source)) return {value: [source]};
	let value = '';
	for (const part of source.parts) {
		const text = textOf(part, namespace, opened);
		if ('missing' in text) return text;
		if (text.value === undefined) return {value: []};
		value += text.value;
		if (value.length > limits.environmentCharacters) return {missing: tooLong};
	}
	return {value: [{name: source.name, value, isSecret: true}]};
}

function entriesOf(
	{secret, optional}: SecretRef,
	prefix: string,
	namespace: string,
	opened: OpenedSecrets,
): Expanded<readonly EnvVariable[]> {
	const data = opened.get(secret);
	if (data === undefined) return optional ? {value: []} : {missing: secretMissing(secret)};
	const variables: EnvVariable[] = [];
	for (const [key, encoded] of Object.entries(data)) {
		const value = decoded(encoded);
		if (value === undefined) return {missing: noText(key, namespace, secret)};
		variables.push({name: prefix + key, value, isSecret: true});
	}
	return {value: variables};
}

function textOf(part: ValuePart, namespace: string, opened: OpenedSecrets): Expanded<string | undefined> {
	if (typeof part === 'string') return {value: part};
	const {secret, key, optional, otherwise} = part;
	const data = opened.get(secret);
	if (data === undefined && !optional) return {missing: secretMissing(secret)};
	const encoded = data !== undefined && Object.hasOwn(data, key) ? data[key] : undefined;
	if (encoded === undefined) return optional ? {value: otherwise} : {missing: keyMissing(key, namespace, secret)};
	const value = decoded(encoded);
	return value === undefined ? {missing: noText(key, namespace, secret)} : {value};
}

/** Undefined where the bytes are no text that an environment takes. */
function decoded(base64: string): string | undefined {
	const text = valueOr('\0', () => new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(Buffer.from(base64, 'base64')));
	return text.includes('\0') ? undefined : text;
}

const tooLong = `the environment is longer than ${limits.environmentCharacters} characters`;

const noText = (key: string, namespace: string, secret: string): string =>
	`key ${key} of Secret ${namespace}/${secret} is no UTF-8 text without NUL, and so cannot be a variable`;
