// What `-o` may say of one verb of `troupe workflow`: the command has one such flag for all of them.

import {type Flags, usageError} from '../command.js';

/** One of these, or undefined where it is not given. Throws ERR_USAGE. */
export function formOf<Form extends string>(flags: Flags, forms: readonly Form[]): Form | undefined {
	const text = flags.text('output');
	const form = forms.find(each => each === text);
	if (text !== undefined && form === undefined) throw usageError(`-o must be ${forms.join(' or ')} here, got "${text}"`);
	return form;
}
