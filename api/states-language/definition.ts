// A definition in the Amazon States Language, in its JSONPath form: the names are those of the published language.
//
// What has these types has passed validation (validation/definition.ts): paths and templates in it can be parsed.

import type {Json, JsonObject} from '../object.js';

export type StateMachine = {
	readonly Comment?: string;
	readonly StartAt: string;
	readonly States: {readonly [name: string]: State};
};

/** A whole definition: the machine that a run begins with. */
export type Definition = StateMachine & {readonly Version?: string; readonly TimeoutSeconds?: number};

export type State = TaskState | ChoiceState | PassState | WaitState | SucceedState | FailState | ParallelState | MapState;

/** Null stands for an empty object. */
type InputAndOutput = {readonly Comment?: string; readonly InputPath?: string | null; readonly OutputPath?: string | null};

type Transition = {readonly Next?: string; readonly End?: boolean};

type Result = {
	/** A payload template. */
	readonly Parameters?: Json;
	readonly ResultSelector?: JsonObject;
	/** Null throws the result away. */
	readonly ResultPath?: string | null;
};

/** States whose work may fail, and be tried again. */
type Fallible = {readonly Retry?: readonly Retrier[]; readonly Catch?: readonly Catcher[]};

export type Retrier = {
	readonly ErrorEquals: readonly string[];
	readonly IntervalSeconds?: number;
	readonly MaxAttempts?: number;
	readonly BackoffRate?: number;
	readonly MaxDelaySeconds?: number;
	readonly JitterStrategy?: 'FULL' | 'NONE';
};

export type Catcher = {readonly ErrorEquals: readonly string[]; readonly ResultPath?: string | null; readonly Next: string};

export type TaskState = InputAndOutput &
	Transition &
	Result &
	Fallible & {
		readonly Type: 'Task';
		readonly Resource: string;
		readonly TimeoutSeconds?: number;
		readonly TimeoutSecondsPath?: string;
		readonly HeartbeatSeconds?: number;
		readonly HeartbeatSecondsPath?: string;
	};

export type PassState = InputAndOutput &
	Transition & {readonly Type: 'Pass'; readonly Result?: Json; readonly Parameters?: Json; readonly ResultPath?: string | null};

export type WaitState = InputAndOutput &
	Transition & {
		readonly Type: 'Wait';
		readonly Seconds?: number;
		readonly SecondsPath?: string;
		readonly Timestamp?: string;
		readonly TimestampPath?: string;
	};

export type SucceedState = InputAndOutput & {readonly Type: 'Succeed'};

export type FailState = {
	readonly Comment?: string;
	readonly Type: 'Fail';
	readonly Error?: string;
	readonly ErrorPath?: string;
	readonly Cause?: string;
	readonly CausePath?: string;
};

export type ChoiceState = InputAndOutput & {readonly Type: 'Choice'; readonly Choices: readonly ChoiceRule[]; readonly Default?: string};

/** One comparison, or And, Or, Not of others; which one is told by its members (choice-rule.ts). */
export type ChoiceRule = JsonObject;

export type ParallelState = InputAndOutput &
	Transition &
	Result &
	Fallible & {readonly Type: 'Parallel'; readonly Branches: readonly StateMachine[]};

export type MapState = InputAndOutput &
	Transition &
	Result &
	Fallible & {
		readonly Type: 'Map';
		readonly ItemProcessor?: StateMachine & {readonly ProcessorConfig?: {readonly Mode?: 'INLINE'}};
		/** The older name of ItemProcessor. */
		readonly Iterator?: StateMachine;
		readonly ItemsPath?: string;
		readonly ItemSelector?: Json;
		readonly MaxConcurrency?: number;
		readonly MaxConcurrencyPath?: string;
		readonly ToleratedFailureCount?: number;
		readonly ToleratedFailureCountPath?: string;
		readonly ToleratedFailurePercentage?: number;
		readonly ToleratedFailurePercentagePath?: string;
	};

/** The machine that a Map runs for each of its items. */
export const processorOf = (state: MapState): StateMachine => state.ItemProcessor ?? state.Iterator ?? noMachine;

/** Validation has refused a Map without one. */
const noMachine: StateMachine = {StartAt: '', States: {}};

/** The state of that name; undefined where the machine has none. Names such as "constructor" are names. */
export const stateNamed = (machine: StateMachine, name: string): State | undefined =>
	Object.hasOwn(machine.States, name) ? machine.States[name] : undefined;

export type NamedState = {readonly name: string; readonly state: State};

/** All states of a definition, those of branches and items included. Names are of one state each. */
export function statesIn(machine: StateMachine): readonly NamedState[] {
	return Object.entries(machine.States).flatMap(([name, state]) => [{name, state}, ...machinesIn(state).flatMap(statesIn)]);
}

function machinesIn(state: State): readonly StateMachine[] {
	if (state.Type === 'Parallel') return state.Branches;
	return state.Type === 'Map' ? [processorOf(state)] : [];
}
