// What follows from a step that is traced: whatever is set going while its span is the kernel's, also what is put off meanwhile. While nothing is
// traced there is no span, and each of these costs a comparison.

import type {Failure} from '../../api/errors.js';
import type {Cell} from './cell.js';
import type {Kernel} from './kernel.js';
import type {Span} from './mailbox.js';
import type {StepTrigger} from './probe.js';
import type {StepCall} from './step-call.js';

/** As it is told to an inspector that looks at this step. */
export const seen = (kernel: Kernel, cell: Cell, trigger: StepTrigger, call: StepCall): StepTrigger =>
	kernel.probe?.begins(cell, trigger, call) ?? trigger;

/** All that is set going meanwhile follows from that step; undefined: from none. */
export function following(kernel: Kernel, span: Span | undefined, run: () => void): void {
	const outer = kernel.span;
	kernel.span = span;
	try {
		run();
	} finally {
		kernel.span = outer;
	}
}

/** What is put off still follows from the step that it follows from now. */
export function later<Given extends readonly unknown[]>(kernel: Kernel, run: (...given: Given) => void): (...given: Given) => void {
	const {span} = kernel;
	return span === undefined ? run : (...given) => following(kernel, span, () => run(...given));
}

/** What ends an instance without a step of its own, and all that follows from that. */
export function happening(kernel: Kernel, cell: Cell, what: string, error: Failure | undefined, run: () => void): void {
	if (kernel.probe === undefined) run();
	else following(kernel, kernel.probe.happens(cell, what, error) ?? kernel.span, run);
}
