// Workflows of both dialects become graphs of nodes, by name, each a Task or a Choice, and those a definition.

import {isObject, type Json, type JsonObject} from '../object.js';
import {joinPath} from '../path.js';
import {shown} from '../shown.js';
import {didYouMean} from '../suggest.js';
import {parsedJson} from '../value-or.js';
import {moved, refuseUnknown, type Edits} from './rewrite.js';
import {editWorkflowOfNodes} from './workflow-nodes.js';

const members = ['startAt', 'params', 'nodes'] as const;

/** Where the dialects have the params of a workflow. */
export const paramsOfDialects = ['params', 'spec.entryParams'] as const;

/** Dialect B has its members beside its metadata. */
export const isWorkflowB = (document: JsonObject): boolean => members.some(member => Object.hasOwn(document, member));

/** Dialect B: the members go into a spec. */
export function editWorkflowB(document: JsonObject, edits: Edits): JsonObject {
	if (document['spec'] !== undefined) {
		edits.problems.push({path: 'spec', message: 'stands beside startAt, params and nodes, which belong into it; use one of both'});
		return document;
	}
	const spec: {[member: string]: Json} = {};
	for (const member of members) {
		const value = document[member];
		if (value === undefined) continue;
		spec[member] = value;
		edits.renamed.push({path: `spec.${member}`, from: member});
	}
	if (spec['params'] !== undefined) edits.fields.push('spec.params');
	const rest = Object.entries(document).filter(([key]) => !members.some(member => member === key));
	return editWorkflowOfNodes({...Object.fromEntries(rest), spec}, edits);
}

/** Dialect A: `entryParams`, `entryNodeName`, `workflowNodes`. */
export function editWorkflowA(document: JsonObject, edits: Edits): JsonObject {
	const {spec} = document;
	if (!isObject(spec)) return document;
	const {entryParams, entryNodeName, workflowNodes, ...rest} = spec;
	const isOlder = entryParams !== undefined || entryNodeName !== undefined || workflowNodes !== undefined;
	if (!isOlder) return editWorkflowOfNodes(document, edits);
	const edited: {[member: string]: Json | undefined} = {...rest};
	if (entryNodeName !== undefined) {
		edited['startAt'] = entryNodeName;
		edits.renamed.push({path: 'spec.startAt', from: 'spec.entryNodeName'});
	}
	if (entryParams !== undefined) {
		edited['params'] = paramsOf(entryParams, edits);
		moved(edits, 'spec.params', 'spec.entryParams');
	}
	if (workflowNodes !== undefined) {
		edited['nodes'] = nodesOf(workflowNodes, edits);
		edits.renamed.push({path: 'spec.nodes', from: 'spec.workflowNodes'});
	}
	return editWorkflowOfNodes({...document, spec: edited}, edits);
}

function wrong(path: string, message: string, edits: Edits): undefined {
	edits.problems.push({path, message, reason: 'FieldValueInvalid'});
}

function paramsOf(params: Json, edits: Edits): Json {
	const path = 'spec.entryParams';
	if (typeof params !== 'string') return params;
	const value = parsedJson(params);
	if (isObject(value)) return value;
	wrong(path, `must be a JSON object in quotes, such as '{"x": 1}', got ${shown(params)}`, edits);
	return null;
}

function nodesOf(list: Json, edits: Edits): Json {
	const path = 'spec.workflowNodes';
	if (!Array.isArray(list)) {
		wrong(path, `must be a list, got ${shown(list)}`, edits);
		return null;
	}
	const nodes = new Map<string, JsonObject>();
	for (const [i, item] of (list as readonly Json[]).entries()) {
		const at = joinPath(path, i);
		const name = isObject(item) ? item['name'] : undefined;
		if (!isObject(item)) wrong(at, `must be an object, got ${shown(item)}`, edits);
		else if (typeof name !== 'string') wrong(`${at}.name`, `must be a string, got ${shown(name)}`, edits);
		else if (nodes.has(name))
			edits.problems.push({path: `${at}.name`, message: `there is a node ${shown(name)} already`, reason: 'FieldValueDuplicate'});
		else nodes.set(name, nodeOf(item, joinPath('spec.nodes', name), at, edits) ?? {});
	}
	return Object.fromEntries(nodes);
}

/** `to` is where the node stands in the canonical form, `at` where in the file. */
function nodeOf(item: JsonObject, to: string, at: string, edits: Edits): JsonObject | undefined {
	refuseUnknown(item, ['name', 'type', 'funcData', 'choiceData'], at, edits);
	edits.renamed.push({path: to, from: at});
	const {type} = item;
	if (type !== 'func' && type !== 'choice')
		return wrong(
			`${at}.type`,
			`must be func or choice, got ${shown(type)}${typeof type === 'string' ? didYouMean(type, ['func', 'choice']) : ''}`,
			edits,
		);
	const field = type === 'func' ? 'funcData' : 'choiceData';
	const other = type === 'func' ? 'choiceData' : 'funcData';
	if (item[other] !== undefined) wrong(`${at}.${other}`, `does not belong to a node of type ${type}`, edits);
	const data = item[field];
	if (!isObject(data)) return wrong(`${at}.${field}`, `must be an object, got ${shown(data)}`, edits);
	return type === 'func' ? taskOf(data, to, `${at}.${field}`, edits) : choiceOf(data, to, `${at}.${field}`, edits);
}

function taskOf(data: JsonObject, to: string, at: string, edits: Edits): JsonObject | undefined {
	refuseUnknown(data, ['funcName', 'funcNamespace', 'nextNodeName'], at, edits);
	const {funcName, funcNamespace = '', nextNodeName = ''} = data;
	if (typeof funcName !== 'string' || funcName === '')
		return wrong(`${at}.funcName`, `must be the name of a function, got ${shown(funcName)}`, edits);
	if (typeof funcNamespace !== 'string') return wrong(`${at}.funcNamespace`, `must be a string, got ${shown(funcNamespace)}`, edits);
	edits.renamed.push({path: `${to}.resource`, from: `${at}.funcName`}, {path: `${to}.next`, from: `${at}.nextNodeName`});
	return {
		type: 'Task',
		resource: funcNamespace === '' ? funcName : `${funcNamespace}/${funcName}`,
		...(nextNodeName === '' ? {} : {next: nextNodeName}),
	};
}

function choiceOf(data: JsonObject, to: string, at: string, edits: Edits): JsonObject | undefined {
	refuseUnknown(data, ['trueNextNodeName', 'falseNextNodeName', 'checkType', 'checkVarName', 'compareValue'], at, edits);
	const {trueNextNodeName = null, falseNextNodeName = null, checkType = null, checkVarName = null, compareValue = null} = data;
	for (const [field, value] of Object.entries({trueNextNodeName, falseNextNodeName, checkVarName}))
		if (typeof value !== 'string' || value === '') return wrong(`${at}.${field}`, `must be a name, got ${shown(value)}`, edits);
	const tests = testsOf(checkType, compareValue, at, edits);
	if (tests === undefined) return undefined;
	edits.renamed.push(
		{path: `${to}.choices`, from: at},
		{path: `${to}.choices[0].next`, from: `${at}.${tests.negated ? 'falseNextNodeName' : 'trueNextNodeName'}`},
		{path: `${to}.default`, from: `${at}.${tests.negated ? 'trueNextNodeName' : 'falseNextNodeName'}`},
	);
	const next = tests.negated ? falseNextNodeName : trueNextNodeName;
	return {
		type: 'Choice',
		choices: tests.operators.map(([operator, value]) => ({variable: checkVarName, [operator]: value, next})),
		default: tests.negated ? trueNextNodeName : falseNextNodeName,
	};
}

/** What is tested; negated: the way of the true answer is taken where none of them holds. */
type Tests = {readonly operators: readonly (readonly [operator: string, value: Json])[]; readonly negated: boolean};

const checkTypes = [
	'equal',
	'notEqual',
	...['num', 'str'].flatMap(type =>
		['GreaterThan', 'LessThan', 'GreaterAndEqualThan', 'LessAndEqualThan'].map(relation => type + relation),
	),
];

const isNumeric = (text: string): boolean => text.trim() !== '' && Number.isFinite(Number(text));

function testsOf(checkType: Json, value: Json, at: string, edits: Edits): Tests | undefined {
	// "Then" for "Than" is an old slip that manifests have.
	const type = typeof checkType === 'string' ? checkType.replace(/Then$/, 'Than') : '';
	if (!checkTypes.includes(type))
		return wrong(
			`${at}.checkType`,
			`must be one of ${checkTypes.join(', ')}, got ${shown(checkType)}${didYouMean(type, checkTypes)}`,
			edits,
		);
	if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
		return wrong(`${at}.compareValue`, `must be a number or a string, got ${shown(value)}`, edits);
	if (type === 'equal' || type === 'notEqual') return {operators: equalities(value), negated: type === 'notEqual'};
	const relation = /Greater/.test(type) ? 'GreaterThan' : 'LessThan';
	const operator = relation + (type.includes('AndEqual') ? 'Equals' : '');
	if (type.startsWith('str')) return {operators: [[`string${operator}`, String(value)]], negated: false};
	if (typeof value === 'boolean' || !isNumeric(String(value)))
		return wrong(`${at}.compareValue`, `must be a number, got ${shown(value)}`, edits);
	return {operators: [[`numeric${operator}`, Number(value)]], negated: false};
}

/** A number and its text are the same to this dialect. */
function equalities(value: string | number | boolean): Tests['operators'] {
	if (typeof value === 'boolean') return [['booleanEquals', value]];
	if (typeof value === 'string' && !isNumeric(value)) return [['stringEquals', value]];
	return [
		['numericEquals', Number(value)],
		['stringEquals', String(value)],
	];
}
