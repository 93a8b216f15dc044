// Why a run of a workflow is where it is: what it waits for, or how it has ended.

import {objectKey} from '../../api/keys.js';
import type {Run} from '../../api/kinds/run.js';
import type {Workflow} from '../../api/kinds/workflow.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {statesIn} from '../../api/states-language/definition.js';
import type {StateError} from '../../api/states-language/errors.js';
import {taskKeyAnnotation} from '../../api/task-object.js';
import {parseTaskResource, type TaskResource} from '../../api/task-resource.js';
import {definitionOf} from '../../actors/control/workflows/run-definition.js';
import {statesOf, type RunState} from '../../actors/control/workflows/run-states.js';
import {conditionOf} from '../../api/conditions.js';
import {generalFinding} from './common.js';
import {
	aboutOf,
	clause,
	counted,
	finding,
	keyOf,
	lengthText,
	ownedBy,
	timeOf,
	type Evidence,
	type Finding,
	type Found,
	type NextAction,
} from './finding.js';

export function runFinding(object: ApiObject, evidence: Evidence): Finding {
	const general = generalFinding(object);
	if (general !== undefined) return general;
	const run = object as Run;
	const {phase} = run.status ?? {};
	if (phase === 'Succeeded' || phase === 'Failed' || phase === 'Cancelled') return over(run, phase, evidence);
	if (run.spec?.suspend === true) return suspended(run);
	return run.status?.startTime === undefined ? notBegun(run, evidence) : underWay(run, evidence);
}

// ---- over, suspended, not begun ------------------------------------------------------------------------------------------------

function over(run: Run, phase: 'Succeeded' | 'Failed' | 'Cancelled', evidence: Evidence): Finding {
	const {startTime, completionTime, error} = run.status ?? {};
	const [beganMs, endedMs] = [timeOf(startTime), timeOf(completionTime)];
	const took = beganMs === undefined || endedMs === undefined ? '' : ` after ${lengthText(endedMs - beganMs)}`;
	const next = removal(run, evidence);
	switch (phase) {
		case 'Succeeded':
			return finding(run, {state: 'over', is: `has succeeded${took}`, because: '', atMs: endedMs, next});
		case 'Cancelled':
			return finding(run, {state: 'over', is: `was cancelled${took}`, because: '', atMs: endedMs, next});
		case 'Failed': {
			const because = error === undefined ? '' : errorText({Error: error.error, Cause: error.cause});
			return finding(run, {
				state: 'wrong',
				is: 'has failed',
				because,
				atMs: endedMs,
				next: {says: `troupe workflow retry ${aboutOf(run)} begins again where it has failed`},
			});
		}
	}
}

/** When it is taken away. */
function removal({metadata, spec, status}: Run, {known}: Evidence): NextAction | undefined {
	const endedMs = timeOf(status?.completionTime);
	if (endedMs === undefined) return undefined;
	const workflow = known.get(objectKey('workflows', metadata.namespace, spec?.workflow ?? '')) as Workflow | undefined;
	const seconds = spec?.ttlSecondsAfterFinished ?? workflow?.spec?.ttlSecondsAfterFinished ?? limits.runTtlSeconds;
	return {says: 'it is deleted (ttlSecondsAfterFinished)', atMs: endedMs + seconds * 1_000};
}

const suspended = (run: Run): Finding =>
	finding(run, {
		state: 'waits',
		is: 'is suspended',
		because: '',
		next: {says: `it goes on when spec.suspend is false: troupe workflow resume ${aboutOf(run)}`},
	});

function notBegun(run: Run, {known, causeOf}: Evidence): Finding {
	const {namespace = ''} = run.metadata;
	const name = run.spec?.workflow ?? '';
	const workflow = known.get(objectKey('workflows', namespace, name));
	if (workflow === undefined)
		return finding(run, {
			state: 'wrong',
			is: 'has not begun',
			because: `there is no workflow "${name}" in ${namespace}`,
			next: {says: `it begins when that is applied`},
		});
	const ready = conditionOf((workflow as Workflow).status?.conditions, 'Ready');
	const found = causeOf?.(workflow);
	if (ready?.status === 'False' && ready.reason === 'FailedCreate')
		return finding(run, {
			state: 'wrong',
			is: 'has not begun',
			because: `its workflow ${name} has no revision: ${ready.message ?? ''}`,
			below: found?.chain ?? [],
		});
	return finding(run, {state: 'waits', is: 'has not begun', because: 'it is about to', next: {says: 'it begins by itself'}});
}

// ---- under way -----------------------------------------------------------------------------------------------------------------

/** Of one state under way: what `is` says of the run, and why. `rank`: of several states the lowest is told of. */
type Held = Pick<Found, 'state' | 'is' | 'because' | 'below' | 'next'> & {readonly at: RunState; readonly rank: number};

function underWay(run: Run, evidence: Evidence): Finding {
	const {states, more} = statesOf(run, evidence.known, limits.whyRunStates);
	const resources = resourcesOf(run, evidence);
	const held = states.flatMap(state => heldAt(run, state, {resources, states, evidence}));
	const [told, ...others] = held.toSorted((a, b) => Number(b.state === 'wrong') - Number(a.state === 'wrong') || a.rank - b.rank);
	if (told === undefined) return finding(run, {state: 'waits', is: 'is under way', because: 'its next state is about to begin'});
	const left = others.length + more;
	const {at, state, is, because, below = [], next} = told;
	return finding(run, {
		state,
		is,
		because: `${because}${left === 0 ? '' : `; ${counted(left, 'more state')} of it ${left === 1 ? 'is' : 'are'} under way`}`,
		says: is,
		atMs: timeOf(run.status?.startTime),
		below: [{about: `state ${at.state}`, says: because, atMs: at.enteredAtMs}, ...below],
		next,
	});
}

type Around = {
	readonly resources: ReadonlyMap<string, TaskResource>;
	readonly states: readonly RunState[];
	readonly evidence: Evidence;
};

/** What the tasks of its definition call, by the names of their states. */
function resourcesOf(run: Run, {known}: Evidence): ReadonlyMap<string, TaskResource> {
	const definition = definitionOf(known, run);
	if (typeof definition === 'string') return new Map();
	return new Map(
		statesIn(definition).flatMap(({name, state}) => {
			const read = state.Type === 'Task' ? parseTaskResource(state.Resource) : undefined;
			return read?.ok === true ? [[name, read.value] as const] : [];
		}),
	);
}

/** Nothing of a Parallel or a Map: the states in it are told of. */
function heldAt(run: Run, at: RunState, around: Around): readonly Held[] {
	const {evidence, resources} = around;
	switch (at.phase) {
		case 'children':
			return [];
		case 'entered':
			return [{at, rank: 5, state: 'waits', is: 'is under way', because: `it enters ${at.state}`}];
		case 'waiting':
			return [
				{
					...{at, rank: 4, state: 'waits', is: 'waits for a time', because: `${at.state} is a Wait`},
					...(at.untilMs === undefined ? {} : {next: {says: `it goes on behind ${at.state}`, atMs: at.untilMs}}),
				},
			];
		case 'retrying':
			return [retrying(run, at, evidence)];
		case 'task': {
			const resource = resources.get(at.state);
			if (at.waits === true) return [answerable(run, at, resource, around)];
			return [called(run, at, resource, evidence)];
		}
	}
}

function retrying(run: Run, at: RunState, {historyOf}: Evidence): Held {
	const error = (historyOf?.(keyOf(run)) ?? [])
		.flatMap(({news}) => news)
		.findLast(news => news.type === 'retried' && news.state === at.state && news.frame === at.frame);
	const failed = error?.type === 'retried' ? ` with ${errorText(error.error)}` : '';
	return {
		...{at, rank: 1, state: 'wrong', is: 'waits to try again', because: `attempt ${at.attempt - 1} of ${at.state} failed${failed}`},
		next: {says: `attempt ${at.attempt} of ${at.state}`, ...(at.untilMs === undefined ? {} : {atMs: at.untilMs})},
	};
}

/** Somebody has to say something. */
function answerable(run: Run, at: RunState, resource: TaskResource | undefined, {states}: Around): Held {
	const isOnly = states.filter(({state, waits}) => waits === true && state === at.state).length === 1;
	const flag = isOnly ? `--state ${JSON.stringify(at.state)}` : `--key ${JSON.stringify(at.key)}`;
	const by = resource?.type === 'function' ? ', or of who was given its token' : '';
	const until = at.untilMs === undefined ? '' : `, at the latest at ${new Date(at.untilMs).toISOString()}`;
	return {
		...{at, rank: 0, state: 'waits', is: 'waits for an answer', because: `${at.state} waits for the word of somebody${by}${until}`},
		next: {says: `troupe workflow approve ${aboutOf(run)} ${flag} gives it, reject says no`},
	};
}

function called(run: Run, at: RunState, resource: TaskResource | undefined, evidence: Evidence): Held {
	const nth = at.attempt > 1 ? `, attempt ${at.attempt}` : '';
	const plainly = (is: string, what: string): Held => ({
		...{at, rank: 3, state: 'waits', is, because: `${at.state} calls ${what}${nth}`},
		...(at.untilMs === undefined ? {} : {next: {says: `${at.state} is out of time`, atMs: at.untilMs}}),
	});
	switch (resource?.type) {
		case undefined:
		case 'activity':
			return plainly('waits for a task', 'it');
		case 'http':
			return plainly('waits for a task', new URL(resource.url).host);
		case 'function': {
			const namespace = resource.namespace ?? run.metadata.namespace;
			const fn = evidence.known.get(objectKey('functions', namespace, resource.name));
			return below(plainly(`waits for function ${resource.name}`, `function ${namespace ?? ''}/${resource.name}`), fn, evidence);
		}
		case 'workflow':
			return below(plainly('waits for another run', `workflow ${resource.name}`), taskObject(run, at, evidence), evidence);
		case 'job':
			return below(plainly('waits for a job', 'a Job'), taskObject(run, at, evidence), evidence);
		case 'slurmjob':
			return below(plainly('waits for a job', 'a SlurmJob'), taskObject(run, at, evidence), evidence);
	}
}

/** The Job or the run that is that attempt. */
function taskObject(run: Run, {key}: RunState, evidence: Evidence): ApiObject | undefined {
	for (const object of ownedBy(run, evidence)) if (object.metadata.annotations?.[taskKeyAnnotation] === key) return object;
	return undefined;
}

/** What it waits for is not as it should be: that is the cause. */
function below(held: Held, object: ApiObject | undefined, {causeOf}: Evidence): Held {
	const found = object === undefined ? undefined : causeOf?.(object);
	if (object === undefined || found === undefined || found.state === 'fine' || found.state === 'over') return held;
	return {
		...held,
		state: found.state,
		rank: found.state === 'wrong' ? held.rank : 2,
		because: `${held.because}, and ${aboutOf(object)} ${clause(found.is, found.because)}`,
		below: found.chain,
		...(found.next === undefined ? {} : {next: found.next}),
	};
}

/** As long as an answer in a sentence may have it. */
const errorText = ({Error: name, Cause}: StateError): string => {
	const text = `${name === '' ? 'no name' : name}${Cause === '' ? '' : `: ${Cause}`}`;
	return text.length > limits.warningCharacters ? `${text.slice(0, limits.warningCharacters)}…` : text;
};
