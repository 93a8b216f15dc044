// `describe` of a ConfigMap and of a Secret: the one shows its values, the other no more than their sizes. Pure.

import {base64Bytes} from '../../api/base64.js';
import type {ConfigMap} from '../../api/kinds/configmap.js';
import type {Secret} from '../../api/kinds/secret.js';
import {inOneLine} from '../screen/table.js';
import {drawFields, indented, metadataFields, type Field} from './lines.js';

/** Everything but the events. */
export function describeConfigMap(object: ConfigMap, nowMs: number): string {
	const {data = {}, binaryData = {}, immutable} = object;
	const texts = Object.entries(data).map(([key, value]) => `  ${key}:\n${indented(value.split('\n').map(inOneLine).join('\n'), '    ')}\n`);
	return [
		drawFields([...metadataFields(object, nowMs), immutableField(immutable)]),
		section('Data', texts),
		section('Binary Data', sizes(binaryData)),
	].join('');
}

export function describeSecret(object: Secret, nowMs: number): string {
	const {data = {}, type, immutable} = object;
	return drawFields([...metadataFields(object, nowMs), ['Type', type], immutableField(immutable)]) + section('Data', sizes(data));
}

const immutableField = (immutable: boolean | undefined): Field => ['Immutable', immutable === true ? 'true' : undefined];

const section = (title: string, parts: readonly string[]): string =>
	parts.length === 0 ? `${title}:  <none>\n` : `${title}:\n${parts.join('')}`;

function sizes(data: {readonly [key: string]: string}): readonly string[] {
	const fields = Object.entries(data).map(([key, value]): Field => [key, `${base64Bytes(value)} bytes`]);
	const lines = drawFields(fields, '  ');
	return lines === '' ? [] : [lines];
}
