// What an inspector sees of the steps of a system. There is none while no trace, watch or fault is on: then a delivery and a step cost one
// comparison more.

import type {Failure} from '../../api/errors.js';
import type {Address} from '../../api/keys.js';
import type {Context, Next} from './behavior.js';
import type {Cell} from './cell.js';
import type {Envelope, Span} from './mailbox.js';
import type {DeadLetterReason} from './observer.js';
import type {StepCall} from './step-call.js';

/** What a cell takes a step for. */
export type StepTrigger = Pick<Envelope, 'message' | 'from' | 'cause' | 'span' | 'arrivedAtMs'> & {
	/** Called when the step is real: committed, its effects still to run. */
	readonly whenReal?: () => void;
	readonly seen?: SeenStep;
};

/** One step that is looked at; it is told of in this order. */
export type SeenStep = {
	/** Given to all that the step sets going. */
	readonly span: Span | undefined;
	/** What the behaviour is given in the place of its context. What it throws crashes the actor. */
	readonly context: (context: Context) => Context;
	/** The behaviour has returned; nothing of it is real yet. */
	readonly ran: (next: Next<unknown>, tookMs: number) => void;
	/** The state is the new one, committed where it had to be; the effects are still to run. */
	readonly real: (wasCommitted: boolean) => void;
	readonly notCommitted: (error: Failure) => void;
	/** The behaviour knows no such message; nothing of the step becomes real. */
	readonly notUnderstood: (error: Failure) => void;
	/** The behaviour, or one of its effects, has thrown. */
	readonly crashed: (error: Failure) => void;
};

/** A step that is looked at, perhaps by another one as well: but for what is given here, that one is told. */
export const seenWith = (seen: SeenStep | undefined, own: Partial<SeenStep>): SeenStep => ({
	span: seen?.span,
	context: context => seen?.context(context) ?? context,
	ran: (next, tookMs) => seen?.ran(next, tookMs),
	real: wasCommitted => seen?.real(wasCommitted),
	notCommitted: error => seen?.notCommitted(error),
	notUnderstood: error => seen?.notUnderstood(error),
	crashed: error => seen?.crashed(error),
	...own,
});

/** Called in the middle of deliveries and steps: but for what `context` of a step throws, it throws nothing. */
export type Probe = {
	/** A message as it goes into the mailbox; undefined: it is lost on the way. */
	readonly arrives: (cell: Cell, envelope: Envelope) => Envelope | undefined;
	/** The trigger, `seen` where the step is looked at. */
	readonly begins: (cell: Cell, trigger: StepTrigger, call: StepCall) => StepTrigger;
	/** What ends an instance without a step of its own: a kill, a restart, the failure of an actor below. The span of what follows from that. */
	readonly happens: (cell: Cell, what: string, error: Failure | undefined) => Span | undefined;
	/** A dead letter. */
	readonly refused: (to: Address, envelope: Envelope, why: DeadLetterReason, error: Failure) => void;
};
