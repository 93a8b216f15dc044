// The schema of a workflow in its older form, a graph of nodes, which becomes a definition before it is kept.

import Type, {type TOptional, type TUnsafe} from 'typebox';
import {choiceOperators, typeOfOperator, type ChoiceOperator} from '../rules/workflow-nodes.js';
import {about, flag, mapOf, oneOf, optional, record, someOf, text} from './parts.js';

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

export const nodesSpec = () =>
	record({
		startAt: about('The first node.', text()),
		nodes: about('The nodes, by name.', mapOf(workflowNode())),
	});
