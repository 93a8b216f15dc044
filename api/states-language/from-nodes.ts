// The older form of workflows, a graph of nodes, which the older dialects become, too, as a definition in the States Language.
//
// The run's data stands in `data`: the params, into which the result of each Task is merged, its members over those of the same name.

import type {Json, JsonObject} from '../object.js';
import {choiceOperators, type ChoiceOperator} from '../rules/workflow-nodes.js';

type Node = {
	readonly type: 'Task' | 'Choice';
	readonly resource?: string;
	readonly next?: string;
	readonly choices?: readonly NodeChoice[];
	readonly default?: string;
};

type NodeChoice = {readonly variable: string; readonly next: string} & {readonly [Operator in ChoiceOperator]?: number | string | boolean};

export type NodesSpec = {readonly startAt: string; readonly nodes: {readonly [name: string]: Node}};

/** What makes `data` of the params, and the state after a Task that merges its result: names that no node has. */
const firstState = '(params)';
const mergeOf = (name: string): string => `${name} (merge)`;

/** A definition, not checked yet. */
export function definitionOfNodes({startAt, nodes}: NodesSpec): JsonObject {
	const first: JsonObject = {Type: 'Pass', Parameters: {'data.$': '$'}, Next: startAt};
	return {StartAt: firstState, States: Object.fromEntries([[firstState, first], ...Object.entries(nodes).flatMap(statesOf)])};
}

function statesOf([name, node]: readonly [string, Node]): readonly (readonly [string, JsonObject])[] {
	if (node.type === 'Choice') return [[name, choiceOf(node)]];
	const merge: JsonObject = {
		Type: 'Pass',
		Parameters: {'data.$': 'States.JsonMerge($.data, $.result, false)'},
		...(node.next === undefined ? {OutputPath: '$.data', End: true} : {Next: node.next}),
	};
	const task: JsonObject = {
		Type: 'Task',
		Resource: node.resource ?? functionOf(name),
		InputPath: '$.data',
		ResultPath: '$.result',
		Next: mergeOf(name),
	};
	return [
		[name, task],
		[mergeOf(name), merge],
	];
}

/** The function that is called like a node: functions have no capitals, and no "_". */
const functionOf = (name: string): string => name.toLowerCase().replaceAll('_', '-');

function choiceOf({choices = [], default: otherwise}: Node): JsonObject {
	return {
		Type: 'Choice',
		Choices: choices.map(choice => ({...ruleOf(choice), Next: choice.next})),
		...(otherwise === undefined ? {} : {Default: otherwise}),
	};
}

function ruleOf(choice: NodeChoice): JsonObject {
	const operator = choiceOperators.find(each => choice[each] !== undefined) ?? 'stringEquals';
	const value = choice[operator] ?? null;
	const Variable = `$.data['${choice.variable.replace(/['\\]/g, '\\$&')}']`;
	const [, type = '', relation = ''] = /^(numeric|string|boolean)(.*)$/.exec(operator) ?? [];
	if (type === 'boolean') return booleanRule(Variable, relation, value === true);
	const prefix = type === 'numeric' ? 'Numeric' : 'String';
	if (relation === 'NotEquals') return {Not: {Variable, [`${prefix}Equals`]: value}};
	return {Variable, [`${prefix}${relation}`]: value};
}

/** The language compares no booleans but by equality; false comes before true. */
function booleanRule(Variable: string, relation: string, value: boolean): JsonObject {
	const equals = (literal: boolean): JsonObject => ({Variable, BooleanEquals: literal});
	const any: JsonObject = {Variable, IsBoolean: true};
	const none: JsonObject = {And: [any, {Not: any}] satisfies Json};
	switch (relation) {
		case 'NotEquals':
			return {Not: equals(value)};
		case 'GreaterThan':
			return value ? none : equals(true);
		case 'LessThan':
			return value ? equals(false) : none;
		case 'GreaterThanEquals':
			return value ? equals(true) : any;
		case 'LessThanEquals':
			return value ? any : equals(false);
		default:
			return equals(value);
	}
}
