// Rules of each type of state.

import {limits} from '../../limits.js';
import {isObject, type Json, type JsonObject} from '../../object.js';
import {joinPath} from '../../path.js';
import {refuse} from '../../rules/report.js';
import {shown} from '../../shown.js';
import {didYouMean} from '../../suggest.js';
import {timestampMs} from '../timestamp.js';
import {checkChoices} from './choices.js';
import {
	checkLookup,
	checkMembers,
	checkNumber,
	checkObjectTemplate,
	checkOneOf,
	checkPath,
	checkReferencePath,
	checkTemplate,
	checkText,
	itemsIn,
	seconds,
	type Found,
} from './report.js';
import {checkCatch, checkRetry} from './retry.js';

/** Looks at a machine within a state. */
export type CheckMachine = (path: string, machine: Json | undefined, further: readonly string[]) => void;

/** What is wrong with what a Task calls; undefined: nothing. */
export type ResourceProblem = (resource: string) => string | undefined;

type Around = {readonly checkMachine: CheckMachine; readonly resourceProblem: ResourceProblem};

type Part = Around & {readonly found: Found; readonly path: string; readonly state: JsonObject};

const inputAndOutput = ['InputPath', 'OutputPath'];
const transition = ['Next', 'End'];
const work = ['Parameters', 'ResultSelector', 'ResultPath', 'Retry', 'Catch'];

type TypeRule = {readonly members: readonly string[]; readonly check: (part: Part) => void};

const types: {readonly [type: string]: TypeRule} = {
	Task: {
		members: [
			...inputAndOutput,
			...transition,
			...work,
			'Resource',
			'TimeoutSeconds',
			'TimeoutSecondsPath',
			'HeartbeatSeconds',
			'HeartbeatSecondsPath',
		],
		check: checkTask,
	},
	Pass: {members: [...inputAndOutput, ...transition, 'Parameters', 'Result', 'ResultPath'], check: checkPass},
	Choice: {members: [...inputAndOutput, 'Choices', 'Default'], check: checkChoice},
	Wait: {members: [...inputAndOutput, ...transition, 'Seconds', 'SecondsPath', 'Timestamp', 'TimestampPath'], check: checkWait},
	Succeed: {members: inputAndOutput, check: () => undefined},
	Fail: {members: ['Error', 'ErrorPath', 'Cause', 'CausePath'], check: checkFail},
	Parallel: {members: [...inputAndOutput, ...transition, ...work, 'Branches'], check: checkParallel},
	Map: {
		members: [
			...inputAndOutput,
			...transition,
			...work,
			'ItemProcessor',
			'Iterator',
			'ItemsPath',
			'ItemSelector',
			'MaxConcurrency',
			'MaxConcurrencyPath',
			'ToleratedFailureCount',
			'ToleratedFailureCountPath',
			'ToleratedFailurePercentage',
			'ToleratedFailurePercentagePath',
		],
		check: checkMap,
	},
};

const typeNames = Object.keys(types);

const allMembers = Object.values(types).flatMap(({members}) => members);

export function checkState(found: Found, path: string, state: Json, around: Around): void {
	if (!isObject(state)) return refuse(found, path, `must be an object, got ${shown(state)}`);
	const {Type} = state;
	const rule = typeof Type === 'string' && Object.hasOwn(types, Type) ? types[Type] : undefined;
	if (rule === undefined || typeof Type !== 'string')
		return refuse(
			found,
			`${path}.Type`,
			`must be one of ${typeNames.join(', ')}, got ${shown(Type)}${typeof Type === 'string' ? didYouMean(Type, typeNames) : ''}`,
		);
	checkMembers(found, path, state, ['Type', 'Comment', ...rule.members], `a ${Type} state`, allMembers);
	checkPath(found, `${path}.InputPath`, state['InputPath'], true);
	checkPath(found, `${path}.OutputPath`, state['OutputPath'], true);
	if (rule.members.includes('ResultPath')) checkReferencePath(found, `${path}.ResultPath`, state['ResultPath'], true);
	if (rule.members.includes('Next')) checkTransition(found, path, state);
	rule.check({...around, found, path, state});
}

function checkTransition(found: Found, path: string, {Next, End}: JsonObject): void {
	if (End !== undefined && typeof End !== 'boolean') refuse(found, `${path}.End`, `must be true or false, got ${shown(End)}`);
	if (Next !== undefined && typeof Next !== 'string') refuse(found, `${path}.Next`, `must be the name of a state, got ${shown(Next)}`);
	if (Next !== undefined && End === true)
		refuse(found, `${path}.End`, 'stands beside Next; a state either ends its machine or leads on', 'FieldValueForbidden');
	if (Next === undefined && End !== true) refuse(found, path, 'Next or "End": true is missing', 'FieldValueRequired');
}

function checkWork({found, path, state}: Part): void {
	checkTemplate(found, `${path}.Parameters`, state['Parameters']);
	checkObjectTemplate(found, `${path}.ResultSelector`, state['ResultSelector']);
	checkRetry(found, `${path}.Retry`, state['Retry']);
	checkCatch(found, `${path}.Catch`, state['Catch']);
}

function checkTask(part: Part): void {
	const {found, path, state, resourceProblem} = part;
	checkWork(part);
	const {Resource, TimeoutSeconds, HeartbeatSeconds} = state;
	if (typeof Resource !== 'string' || Resource === '')
		refuse(found, `${path}.Resource`, `must say what is called, got ${shown(Resource)}`, 'FieldValueRequired');
	else {
		const problem = resourceProblem(Resource);
		if (problem !== undefined) refuse(found, `${path}.Resource`, problem);
	}
	checkOneOf(found, path, state, ['TimeoutSeconds', 'TimeoutSecondsPath']);
	checkOneOf(found, path, state, ['HeartbeatSeconds', 'HeartbeatSecondsPath']);
	for (const field of ['TimeoutSeconds', 'HeartbeatSeconds']) {
		checkNumber(found, `${path}.${field}`, state[field], {least: 1, most: limits.statesTaskSeconds});
		checkPath(found, `${path}.${field}Path`, state[`${field}Path`]);
	}
	if (typeof TimeoutSeconds === 'number' && typeof HeartbeatSeconds === 'number' && HeartbeatSeconds >= TimeoutSeconds)
		refuse(found, `${path}.HeartbeatSeconds`, `must be less than TimeoutSeconds, which is ${TimeoutSeconds}, got ${HeartbeatSeconds}`);
}

function checkPass({found, path, state}: Part): void {
	checkTemplate(found, `${path}.Parameters`, state['Parameters']);
}

function checkChoice({found, path, state}: Part): void {
	checkChoices(found, `${path}.Choices`, state['Choices']);
	const {Default} = state;
	if (Default !== undefined && typeof Default !== 'string')
		refuse(found, `${path}.Default`, `must be the name of a state, got ${shown(Default)}`);
}

function checkWait({found, path, state}: Part): void {
	checkOneOf(found, path, state, ['Seconds', 'SecondsPath', 'Timestamp', 'TimestampPath'], true);
	checkNumber(found, `${path}.Seconds`, state['Seconds'], seconds);
	checkPath(found, `${path}.SecondsPath`, state['SecondsPath']);
	checkPath(found, `${path}.TimestampPath`, state['TimestampPath']);
	const {Timestamp} = state;
	if (Timestamp !== undefined && timestampMs(Timestamp) === undefined)
		refuse(found, `${path}.Timestamp`, `must be a time such as "2030-01-31T12:00:00Z", got ${shown(Timestamp)}`);
}

function checkFail({found, path, state}: Part): void {
	for (const field of ['Error', 'Cause']) {
		checkOneOf(found, path, state, [field, `${field}Path`]);
		checkText(found, `${path}.${field}`, state[field]);
		checkLookup(found, `${path}.${field}Path`, state[`${field}Path`]);
	}
}

function checkParallel(part: Part): void {
	checkWork(part);
	const {found, path, state, checkMachine} = part;
	itemsIn(found, `${path}.Branches`, state['Branches']).forEach((branch, at) => checkMachine(joinPath(`${path}.Branches`, at), branch, []));
}

function checkMap(part: Part): void {
	checkWork(part);
	const {found, path, state, checkMachine} = part;
	checkOneOf(found, path, state, ['ItemProcessor', 'Iterator'], true);
	if (state['ItemProcessor'] !== undefined) {
		checkMachine(`${path}.ItemProcessor`, state['ItemProcessor'], ['ProcessorConfig']);
		checkProcessorConfig(found, `${path}.ItemProcessor.ProcessorConfig`, state['ItemProcessor']);
	} else if (state['Iterator'] !== undefined) checkMachine(`${path}.Iterator`, state['Iterator'], []);
	checkOneOf(found, path, state, ['ItemSelector', 'Parameters']);
	checkTemplate(found, `${path}.ItemSelector`, state['ItemSelector']);
	checkPath(found, `${path}.ItemsPath`, state['ItemsPath']);
	for (const [field, most] of [
		['MaxConcurrency', limits.statesMapItems],
		['ToleratedFailureCount', limits.statesMapItems],
		['ToleratedFailurePercentage', 100],
	] as const) {
		checkOneOf(found, path, state, [field, `${field}Path`]);
		checkNumber(found, `${path}.${field}`, state[field], {least: 0, most, isWhole: field !== 'ToleratedFailurePercentage'});
		checkPath(found, `${path}.${field}Path`, state[`${field}Path`]);
	}
}

function checkProcessorConfig(found: Found, path: string, processor: Json): void {
	const config = isObject(processor) ? processor['ProcessorConfig'] : undefined;
	if (config === undefined) return;
	if (!isObject(config)) return refuse(found, path, `must be an object, got ${shown(config)}`);
	checkMembers(found, path, config, ['Mode', 'ExecutionType'], 'a ProcessorConfig');
	const {Mode} = config;
	if (Mode === 'DISTRIBUTED') refuse(found, `${path}.Mode`, '"DISTRIBUTED" is not supported; INLINE is', 'FieldValueNotSupported');
	else if (Mode !== undefined && Mode !== 'INLINE') refuse(found, `${path}.Mode`, `must be INLINE, got ${shown(Mode)}`);
}
