// The schema of a Workflow.

import Type, {type TOptional, type TUnsafe} from 'typebox';
import type {JsonObject} from '../object.js';
import {choiceOperators, typeOfOperator, type ChoiceOperator} from '../rules/workflow.js';
import {objectWith} from './metadata.js';
import {about, flag, mapOf, observed, oneOf, optional, record, someOf, text} from './parts.js';

const valueOf = (operator: ChoiceOperator) => {
	const type = typeOfOperator(operator);
	if (type === 'number') return Type.Number();
	return type === 'string' ? text() : flag();
};

/** The operators are too many to be written out. */
const operators = Object.fromEntries(
	choiceOperators.map(operator => [operator, optional(about('The value it is compared to.', valueOf(operator)))]),
) as unknown as {[Operator in ChoiceOperator]: TOptional<TUnsafe<number | string | boolean>>};

/** One operator, with the value it compares to. */
const choice = () =>
	record({
		variable: about('What is compared: a member of what the run knows.', text()),
		next: about('The node that follows where it holds.', text()),
		...operators,
	});

const workflowNode = () =>
	record({
		type: about('Task calls a function, Choice goes on by what the run knows.', oneOf(['Task', 'Choice'])),
		resource: optional(about('The function of a Task, NAME or NAMESPACE/NAME; named like the node when left out.', text())),
		next: optional(about('The node that follows a Task; the run ends when left out.', text())),
		choices: optional(about('Of a Choice: the first that holds is taken.', someOf(choice()))),
		default: optional(about('Of a Choice: the node that follows where none holds.', text())),
	});

export const spec = () =>
	record({
		startAt: about('The first node.', text()),
		params: optional(about('What the run knows at its start.', Type.Unsafe<JsonObject>({type: 'object'}))),
		nodes: about('The nodes, by name.', mapOf(workflowNode())),
	});

export const status = observed;

export const schema = () => objectWith(about('A graph of functions and choices.', spec()));
