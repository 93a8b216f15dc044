// The static shape of a troupe.dev/v1 Workflow: a graph of functions and choices.

import type {ApiObject, Condition, JsonObject} from '../object.js';

const kinds = ['numeric', 'string', 'boolean'] as const;
const relations = ['Equals', 'NotEquals', 'GreaterThan', 'LessThan', 'GreaterThanEquals', 'LessThanEquals'] as const;

export type ChoiceOperator = `${(typeof kinds)[number]}${(typeof relations)[number]}`;

/** `numericEquals`, `stringLessThan`, ...: the type of the value, and how the variable has to stand to it. */
export const choiceOperators: readonly ChoiceOperator[] = kinds.flatMap(kind =>
	relations.map((relation): ChoiceOperator => `${kind}${relation}`),
);

/** Which type a choice compares. */
export const typeOfOperator = (operator: string): 'number' | 'string' | 'boolean' =>
	operator.startsWith('numeric') ? 'number' : operator.startsWith('string') ? 'string' : 'boolean';

/** One operator, with the value it compares to. */
export type Choice = {readonly variable: string; readonly next: string} & {
	readonly [Operator in ChoiceOperator]?: number | string | boolean;
};

export type WorkflowNode = {
	/** A Task calls a function, a Choice goes on by what the run knows. */
	readonly type: 'Task' | 'Choice';
	/** The function of a Task, `name` or `namespace/name`; without it, the one named like the node. */
	readonly resource?: string;
	/** What follows a Task; without it the run ends. */
	readonly next?: string;
	/** The first that holds is taken. */
	readonly choices?: readonly Choice[];
	/** Where no choice holds. */
	readonly default?: string;
};

export type WorkflowSpec = {
	readonly startAt: string;
	readonly params?: JsonObject;
	readonly nodes: {readonly [name: string]: WorkflowNode};
};

export type WorkflowStatus = {readonly observedGeneration?: number; readonly conditions?: readonly Condition[]};

export type Workflow = ApiObject<WorkflowSpec, WorkflowStatus>;
