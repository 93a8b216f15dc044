// Workflows in their older form: what they become, and that they do as the older dialects say.

import test from 'ava';
import {normalise} from '../../../api/dialects/normalise.js';
import type {Json, JsonObject} from '../../../api/object.js';
import type {Definition} from '../../../api/states-language/definition.js';
import {definitionOfNodes, type NodesSpec} from '../../../api/states-language/from-nodes.js';
import {choiceOperators} from '../../../api/rules/workflow-nodes.js';
import {errorOf, gives, outputOf, runOf, wayOf} from '../../actors/workflows/_runs.js';

function specOf(document: JsonObject): {readonly definition: Definition; readonly params: Json} {
	const read = normalise(document);
	if (!read.ok) throw new Error(JSON.stringify(read.problems));
	return read.object.spec as {readonly definition: Definition; readonly params: Json};
}

const dialectB = (x: number): JsonObject => ({
	apiVersion: '/api/v1',
	kind: 'Workflow',
	metadata: {namespace: 'default', name: 'print'},
	startAt: 'addFive',
	params: {x, kept: true},
	nodes: {
		addFive: {type: 'Task', next: 'judge'},
		judge: {
			type: 'Choice',
			choices: [
				{variable: 'x', numericEquals: 10, next: 'a'},
				{variable: 'x', numericNotEquals: 10, next: 'b'},
			],
		},
		a: {type: 'Task', resource: 'other/printer'},
		b: {type: 'Task'},
	},
});

test('dialect B: results are merged into the params, and a choice is taken by them', t => {
	for (const [x, end] of [
		[5, 'a'],
		[6, 'b'],
	] as const) {
		const spec = specOf(dialectB(x));
		const ran = runOf(spec.definition, spec.params, {
			addFive: call => gives({x: Number((call.input as JsonObject)['x']) + 5}),
			a: [gives({printed: 'a'})],
			b: [gives({printed: 'b'})],
		});
		t.deepEqual(outputOf(ran), {x: x + 5, kept: true, printed: end});
		t.deepEqual(
			ran.calls.map(({state, resource, input}) => [state, resource, input]),
			[
				['addFive', 'addfive', {x, kept: true}],
				[end, end === 'a' ? 'other/printer' : 'b', {x: x + 5, kept: true}],
			],
		);
		t.deepEqual(wayOf(ran), ['(params) 0', 'addFive 0', 'addFive (merge) 0', 'judge 0', `${end} 0`, `${end} (merge) 0`]);
	}
});

test('dialect A: a number and its text are the same to equal', t => {
	const dialectA = (checkType: string, compareValue: Json): JsonObject => ({
		kind: 'Workflow',
		apiVersion: 'v1',
		metadata: {name: 'w'},
		spec: {
			entryParams: '{"x": 1, "y": 2}',
			entryNodeName: 'node1',
			workflowNodes: [
				{name: 'node1', type: 'func', funcData: {funcName: 'f', funcNamespace: 'default', nextNodeName: 'node2'}},
				{
					name: 'node2',
					type: 'choice',
					choiceData: {trueNextNodeName: 'yes', falseNextNodeName: 'no', checkType, checkVarName: 'y', compareValue},
				},
				{name: 'yes', type: 'func', funcData: {funcName: 'g', funcNamespace: 'default'}},
				{name: 'no', type: 'func', funcData: {funcName: 'g', funcNamespace: 'default'}},
			],
		},
	});
	const rows: readonly (readonly [checkType: string, compareValue: Json, y: Json, way: string])[] = [
		['numGreaterThan', 0, 2, 'yes'],
		['numGreaterThen', '2', 2, 'no'],
		['numGreaterAndEqualThan', 2, 2, 'yes'],
		['equal', 2, '2', 'yes'],
		['equal', '2', 2, 'yes'],
		['notEqual', 2, 3, 'yes'],
		['notEqual', 2, 2, 'no'],
		['strLessThan', 'b', 'a', 'yes'],
	];
	for (const [checkType, compareValue, y, way] of rows) {
		const spec = specOf(dialectA(checkType, compareValue));
		const ran = runOf(spec.definition, spec.params, {node1: [gives({y})], yes: [gives({way: 'yes'})], no: [gives({way: 'no'})]});
		t.deepEqual(outputOf(ran), {x: 1, y, way}, `${checkType} ${JSON.stringify(compareValue)}`);
		t.is(ran.calls[0]?.resource, 'default/f');
	}
});

test('each operator compares as its name says, and says nothing of other types', t => {
	const stands: {readonly [relation: string]: (order: number) => boolean} = {
		Equals: order => order === 0,
		NotEquals: order => order !== 0,
		GreaterThan: order => order > 0,
		LessThan: order => order < 0,
		GreaterThanEquals: order => order >= 0,
		LessThanEquals: order => order <= 0,
	};
	const values: {readonly [type: string]: readonly (string | number | boolean)[]} = {
		numeric: [1, 2, 3],
		string: ['a', 'b', 'c'],
		boolean: [false, true],
	};
	for (const operator of choiceOperators) {
		const [, type = '', relation = ''] = /^(numeric|string|boolean)(.*)$/.exec(operator) ?? [];
		for (const [at, literal] of (values[type] ?? []).entries()) {
			const choosing = (value: Json) =>
				runOf(
					definitionOfNodes({
						startAt: 'c',
						nodes: {
							c: {type: 'Choice', choices: [{variable: "it's", [operator]: literal, next: 'y'}], default: 'n'},
							y: {type: 'Task'},
							n: {type: 'Task'},
						},
					} as unknown as NodesSpec),
					{"it's": value},
				).calls[0]?.state;
			for (const [other, value] of (values[type] ?? []).entries())
				t.is(
					choosing(value),
					stands[relation]?.(other - at) === true ? 'y' : 'n',
					`${JSON.stringify(value)} ${operator} ${JSON.stringify(literal)}`,
				);
			t.is(choosing({}), relation === 'NotEquals' ? 'y' : 'n');
		}
	}
});

test('a result that is no object, and a member that is not there, fail the run', t => {
	const spec = specOf(dialectB(5));
	t.is(errorOf(runOf(spec.definition, spec.params, {addFive: [gives(5)]}))?.Error, 'States.IntrinsicFailure');
	t.is(errorOf(runOf(spec.definition, {}, {addFive: [gives({})]}))?.Error, 'States.Runtime');
});
