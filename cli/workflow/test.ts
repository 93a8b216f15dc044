// `troupe workflow test`: a definition checked and tried in virtual time. No cluster is asked. Exit code 1 where it or a case is not as it should be.

import {isObject, type Json} from '../../api/object.js';
import {usageError, type Invocation} from '../command.js';
import {tellFaults} from '../manifests/faults.js';
import {printedWhole} from '../objects/output.js';
import {coverageOf} from './coverage.js';
import {readWorkflow} from './definition-file.js';
import {drawReport} from './draw.js';
import {formOf} from './forms.js';
import {inputOf} from './input.js';
import {readCases} from './mock-file.js';
import {tryCase} from './try-case.js';

export async function test(invocation: Invocation, words: readonly string[]): Promise<number> {
	const {flags, terminal} = invocation;
	const [file, ...more] = words;
	if (file === undefined || more.length > 0)
		throw usageError('test takes one file, as in: troupe workflow test order.asl.json --mock order.mocks.yaml');
	formOf(flags, ['json', 'yaml']);
	const mocks = flags.text('mock');
	const input = await objectOf(invocation);
	const read = await readWorkflow(file, terminal.input);
	if (!read.ok) return tellFaults(terminal, read.faults, [file]);
	const {definition, params} = read;
	const cases = mocks === undefined ? undefined : await readCases(mocks, terminal.input, definition);
	if (cases !== undefined && !cases.ok) return tellFaults(terminal, cases.faults, [mocks ?? '']);
	const all = (cases?.cases ?? []).map(each => tryCase(definition, each, input ?? params));
	const tried = all.map(each => each.tried);
	const gone = new Set(all.flatMap(each => [...each.gone]));
	const report = {file, cases: tried, coverage: coverageOf(definition, gone)};
	if (!(await printedWhole(invocation, report))) terminal.out(drawReport(report, terminal.colours));
	return tried.every(({ok}) => ok) ? 0 : 1;
}

async function objectOf({flags, terminal}: Invocation): Promise<Json | undefined> {
	const text = flags.text('input');
	if (text === undefined) return undefined;
	const input = await inputOf(text, terminal.input);
	if (!isObject(input)) throw usageError('--input takes a JSON object, as in: --input \'{"order": 7}\'');
	return input;
}
