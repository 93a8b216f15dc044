// Command lines as anybody may type them, with what is piped into them. None starts or stops anything: there is no cluster to be found.

import fc from 'fast-check';
import {bodyOf} from './requests.js';

export type FuzzLine = {readonly args: readonly string[]; readonly input: string | Uint8Array};

const verbs = [
	'apply',
	'create',
	'replace',
	'diff',
	'get',
	'describe',
	'delete',
	'label',
	'annotate',
	'taint',
	'cordon',
	'drain',
	'wait',
	'explain',
	'logs',
	'exec',
	'scale',
	'retry',
	'events',
	'why',
	'tree',
	'config',
	'help',
	'aply',
	'__proto__',
];
const words = [
	'pods',
	'pod/web',
	'rs',
	'nodes',
	'pod.spec.containers',
	'constructor',
	'all',
	'web',
	'a=b',
	'a-',
	'key=value:NoSchedule',
	'../..',
	'',
	'-',
	'--',
	'get',
];
const flags = [
	'-f',
	'-',
	'--filename=-',
	'-n',
	'--namespace=x',
	'-o',
	'json',
	'-oyaml',
	'--output=nothing',
	'-l',
	'app in (',
	'--all',
	'--replicas',
	'1e3',
	'-1',
	'--timeout=1x',
	'--for=condition=',
	'--dry-run',
	'--no-such',
	'-abc',
	'--=',
	'--tail',
	'9'.repeat(40),
];
const word = fc.oneof(
	{weight: 3, arbitrary: fc.constantFrom(...words)},
	{weight: 3, arbitrary: fc.constantFrom(...flags)},
	{weight: 1, arbitrary: fc.string({maxLength: 20, unit: 'binary'})},
);
const typed = fc.tuple(fc.constantFrom(...verbs), fc.array(word, {maxLength: 6})).map(([verb, rest]) => [verb, ...rest]);
const checked = fc.constant(['apply', '--dry-run=client', '-f', '-']);
const yaml = fc.oneof(
	fc.constantFrom(
		'a: [',
		'kind: Pod\n---\n- x\n',
		'\tkind: Pod',
		'? {a: b}\n: c',
		'&a [*a]',
		'!!js/function x',
		'a: 1\na: 2',
		'%YAML 9\n---\n',
		'\ufeffkind: Pod',
	),
	fc.json(),
	fc.string({maxLength: 200, unit: 'binary'}),
);

export const lines: fc.Arbitrary<FuzzLine> = fc.oneof(
	{weight: 1, arbitrary: fc.record({args: typed, input: fc.constant('')})},
	{weight: 1, arbitrary: fc.record({args: checked, input: fc.oneof(bodyOf, yaml)})},
);
