// `troupe workflow history`: all that has happened in a run, with times, however much it is.

import {historyIn} from '../../api/kinds/run.js';
import type {HistoryRecord} from '../../server/workflows/run-history.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {failedError, type Invocation, usageError} from '../command.js';
import {runNamed} from '../runs/named.js';
import {endingText, historyText} from '../runs/path-lines.js';
import {historyOf, isHistoryMissing, readRun} from '../runs/read.js';
import {inOneLine} from '../screen/table.js';
import {formOf} from './forms.js';

export async function history(invocation: Invocation, words: readonly string[]): Promise<number> {
	const {terminal, flags} = invocation;
	const [word, ...more] = words;
	if (word === undefined || more.length > 0) throw usageError('history takes one run, as in: troupe workflow history run/order-7');
	const [name, isJson] = [runNamed(word), formOf(flags, ['json']) === 'json'];
	return withClient(invocation, async client => {
		const place = {namespace: namespaceOf(invocation, client), name};
		const run = await readRun(client, place);
		let count = 0;
		// A terminal would obey what others wrote; a pipe may be slow.
		const pour = async (text: string): Promise<void> => (terminal.outIsTerminal ? terminal.out(text) : terminal.pour(Buffer.from(text)));
		if (isJson) await pour('{"records": [');
		for await (const records of historyOf(client, place)) {
			const texts = records.map(isJson ? record => JSON.stringify(record) : linesOf);
			if (records.length > 0) await pour(isJson ? `${count === 0 ? '\n' : ',\n'}${texts.join(',\n')}` : texts.join(''));
			count += records.length;
		}
		if (isJson) await pour(`${count === 0 ? '' : '\n'}]}\n`);
		if (isHistoryMissing(run, count))
			throw failedError(
				`the history of run/${name} is not at this server: it is in a file of the one that led when the run ended, or went since there were too many`,
			);
		if (count === 0 && !isJson) terminal.note(`run/${name} has no history yet`);
		const cut = (run.status?.steps ?? 0) - historyIn(run).records;
		if (cut > 0) terminal.note(`the history of run/${name} is as long as it may be: ${cut} steps are not in it`);
		return 0;
	});
}

/** The time once for what has happened at it. */
function linesOf({atMs, news, ending}: HistoryRecord): string {
	const texts = [...news.map(historyText), ...(ending === undefined ? [] : [inOneLine(endingText(ending))])];
	const time = new Date(atMs).toISOString();
	return texts.map((text, at) => `${at === 0 ? time : ' '.repeat(time.length)}  ${text}\n`).join('');
}
