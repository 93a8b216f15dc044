// Errors of the server about a manifest, told where the manifest says it: `file:line:column: field: message`.

import {AppError, rowOf} from '../../api/errors.js';
import type {Renamed} from '../../api/dialects/rewrite.js';
import type {ManifestDocument} from '../manifest.js';
import {causesOf} from '../status-error.js';

export type LocatedProblem = {readonly line: string; readonly error: AppError};

/** One problem for each field that the error names, or one for the document. Errors that are of no document are thrown on. */
export function locateProblems(error: unknown, document: ManifestDocument, renamed: readonly Renamed[]): readonly LocatedProblem[] {
	if (!(error instanceof AppError) || isAboutTheServer(error)) throw error;
	const causes = causesOf(error);
	if (causes.length === 0) return [{line: `${document.locate('')}: ${error.message}`, error}];
	return causes.map(({field, message}) => {
		const written = writtenPath(field, renamed);
		return {line: `${document.locate(written)}: ${written === '' ? '' : `${written}: `}${message}`, error};
	});
}

/** Not reachable, or not allowed: it will be the same for every document. */
const isAboutTheServer = ({code}: AppError): boolean => rowOf(code).exitCode === 5 || code === 'ERR_UNAUTHORIZED';

/** The path as the document spells it: the longest renamed part in front is exchanged. */
export function writtenPath(canonical: string, renamed: readonly Renamed[]): string {
	const [longest] = renamed
		.filter(({path}) => canonical === path || (canonical.startsWith(path) && /^[.[]/.test(canonical.slice(path.length))))
		.sort((a, b) => b.path.length - a.path.length);
	return longest === undefined ? canonical : longest.from + canonical.slice(longest.path.length);
}

/** All problems as one error: a line each, the code of the first. */
export function problemsError(problems: readonly LocatedProblem[]): AppError {
	const [first] = problems;
	const error = new AppError(first?.error.code ?? 'ERR_INVALID', first?.error.failure.details);
	error.message = problems.map(({line}) => line).join('\n');
	return error;
}
