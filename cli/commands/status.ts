// `troupe status`: how the cluster is, on one screen. Exit code 0: all is well, 1: something is wrong, 2 and more: an error.

import {usageError, type Invocation} from '../command.js';
import {printedWhole} from '../objects/output.js';
import {withClient} from '../cluster/session.js';
import {widthFor} from '../screen/text-width.js';
import {drawStatus, textsOf} from '../status/draw.js';
import {judge} from '../status/judge.js';
import {look} from '../status/look.js';

const somethingIsWrong = 1;

export async function run(invocation: Invocation): Promise<number> {
	const {inputs, terminal} = invocation;
	if (inputs.length > 0) throw usageError(`status is of the whole cluster; of one object: troupe why ${inputs.join(' ')}`);
	return withClient(invocation, async client => {
		const status = judge(await look(client));
		if (!(await printedWhole(invocation, status))) {
			const columns = terminal.screen === undefined ? undefined : terminal.screen.columns();
			terminal.out(drawStatus(status, {columns, widthOf: await widthFor(textsOf(status)), colours: terminal.colours}));
		}
		return status.state === 'well' ? 0 : somethingIsWrong;
	});
}
