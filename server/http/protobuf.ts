// Bodies in protobuf, in which kubectl posts what it makes by itself: Kubernetes' envelope, and the few messages that are taken. What is not known of a
// message is left out, as protobuf has it; what is none is refused.

import {apiVersionOf} from '../../api/catalogue.js';
import {horizontalPodAutoscalerV1} from '../../api/kinds/horizontalpodautoscaler-v1.js';
import {limits} from '../../api/limits.js';
import type {Json, JsonObject} from '../../api/object.js';
import {refusal} from './outcome.js';

export const protobufType = 'application/vnd.kubernetes.protobuf';

/**
 * A field of a message: text, where empty is left out; a whole number, where 0 is left out unless the field is a pointer in Go; a message; a map of texts.
 */
type Field =
	| {readonly name: string; readonly type: 'text' | 'number' | 'pointer' | 'texts'; readonly isList?: true}
	| {readonly name: string; readonly type: 'message'; readonly fields: Fields; readonly isList?: true};

type Fields = {readonly [number: number]: Field};

const text = (name: string): Field => ({name, type: 'text'});
const pointer = (name: string): Field => ({name, type: 'pointer'});
const message = (name: string, fields: Fields): Field => ({name, type: 'message', fields});

const metadata = message('metadata', {
	1: text('name'),
	2: text('generateName'),
	3: text('namespace'),
	5: text('uid'),
	6: text('resourceVersion'),
	11: {name: 'labels', type: 'texts'},
	12: {name: 'annotations', type: 'texts'},
	13: {
		name: 'ownerReferences',
		type: 'message',
		isList: true,
		fields: {1: text('kind'), 3: text('name'), 4: text('uid'), 5: text('apiVersion')},
	},
	14: {name: 'finalizers', type: 'text', isList: true},
});

/** By apiVersion and kind: what is taken in this form. */
const messages: {readonly [kind: string]: Fields} = {
	[`${apiVersionOf(horizontalPodAutoscalerV1.kind)} ${horizontalPodAutoscalerV1.kind.kind}`]: {
		1: metadata,
		2: message('spec', {
			1: message('scaleTargetRef', {1: text('kind'), 2: text('name'), 3: text('apiVersion')}),
			2: pointer('minReplicas'),
			3: {name: 'maxReplicas', type: 'number'},
			4: pointer('targetCPUUtilizationPercentage'),
		}),
	},
};

/** The fields of the envelope behind its four bytes. */
const envelope: Fields = {1: message('typeMeta', {1: text('apiVersion'), 2: text('kind')})};
const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
const rawField = 2;

/** The object in such a body; undefined where its kind is not taken in this form. Throws ERR_BAD_REQUEST where it is no such body. */
export function objectInProtobuf(body: Buffer): JsonObject | undefined {
	if (!body.subarray(0, magic.length).equals(magic)) throw broken();
	const inside = body.subarray(magic.length);
	const {typeMeta} = read(inside, envelope) as {readonly typeMeta?: JsonObject};
	const {apiVersion = '', kind = ''} = (typeMeta ?? {}) as {readonly apiVersion?: string; readonly kind?: string};
	const name = `${apiVersion} ${kind}`;
	const fields = Object.hasOwn(messages, name) ? messages[name] : undefined;
	if (fields === undefined) return undefined;
	const raw = partsOf(inside).find(({number}) => number === rawField)?.bytes ?? Buffer.alloc(0);
	return {apiVersion, kind, ...read(raw, fields)};
}

const broken = () => refusal('the body is no protobuf as Kubernetes has it');

type Part = {readonly number: number; readonly value: number; readonly bytes: Buffer | undefined};

/** The fields of one message, in their order. No deeper than `Fields` go: messages in messages are read where they are known. */
function partsOf(body: Buffer): readonly Part[] {
	const parts: Part[] = [];
	let at = 0;
	const varint = (): number => {
		let value = 0;
		for (let shift = 0; shift < 10; shift++) {
			const byte = body[at++];
			if (byte === undefined) throw broken();
			value += (byte & 0x7f) * 2 ** (7 * shift);
			if (byte < 0x80) return value;
		}
		throw broken();
	};
	const taken = (length: number): Buffer => {
		if (length > body.length - at) throw broken();
		at += length;
		return body.subarray(at - length, at);
	};
	while (at < body.length) {
		if (parts.length >= limits.protobufFields) throw refusal(`a message of the body has more than ${limits.protobufFields} fields`);
		const tag = varint();
		const number = Math.floor(tag / 8);
		const wire = tag % 8;
		if (wire === 0) parts.push({number, value: varint(), bytes: undefined});
		else if (wire === 2) parts.push({number, value: 0, bytes: taken(varint())});
		else if (wire === 1 || wire === 5) taken(wire === 1 ? 8 : 4);
		else throw broken();
	}
	return parts;
}

function read(body: Buffer, fields: Fields): JsonObject {
	const object: {[name: string]: Json} = {};
	for (const part of partsOf(body)) {
		const field = fields[part.number];
		if (field === undefined) continue;
		const value = valueOf(part, field);
		if (value === undefined) continue;
		if (field.type === 'texts') object[field.name] = Object.assign(object[field.name] ?? {}, value);
		else if (field.isList === true) listIn(object, field.name).push(value);
		else object[field.name] = value;
	}
	return object;
}

function listIn(object: {[name: string]: Json}, name: string): Json[] {
	const list = (object[name] ?? []) as Json[];
	object[name] = list;
	return list;
}

/** Undefined: it says nothing. */
function valueOf({value, bytes}: Part, field: Field): Json | undefined {
	if (field.type === 'number' || field.type === 'pointer') {
		if (bytes !== undefined) throw broken();
		// Negative numbers are ten bytes long.
		const signed = value >= 2 ** 63 ? value - 2 ** 64 : value;
		return signed === 0 && field.type === 'number' ? undefined : signed;
	}
	if (bytes === undefined) throw broken();
	switch (field.type) {
		case 'text':
			return bytes.length === 0 ? undefined : utf8(bytes);
		case 'message':
			return read(bytes, field.fields);
		case 'texts': {
			const {key = '', value: member = ''} = read(bytes, {1: text('key'), 2: text('value')}) as {readonly [name: string]: string};
			if (key === '__proto__') throw refusal('"__proto__" is not allowed as a field or key');
			return {[key]: member};
		}
	}
}

function utf8(bytes: Buffer): string {
	try {
		return new TextDecoder('utf-8', {fatal: true}).decode(bytes);
	} catch {
		throw broken();
	}
}
