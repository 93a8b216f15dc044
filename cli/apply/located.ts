// Errors of the server about a manifest, told where the manifest says it.

import {AppError, rowOf} from '../../api/errors.js';
import {writtenPath, type Renamed} from '../../api/dialects/rewrite.js';
import type {Fault} from '../manifests/faults.js';
import type {ManifestDocument} from '../manifests/manifest.js';
import {causesOf} from '../cluster/status-error.js';

/** One fault for each field that the error names, or one for the document. Errors that are of no document are thrown on. */
export function locateFaults(error: unknown, document: ManifestDocument, renamed: readonly Renamed[]): readonly Fault[] {
	if (!(error instanceof AppError) || isAboutTheServer(error)) throw error;
	const {code} = error;
	const causes = causesOf(error);
	if (causes.length === 0) return [{place: document.locate(fieldOf(error)), message: error.message, code}];
	return causes.map(({field, message}) => {
		const written = writtenPath(field, renamed);
		const spelled = document.spelled?.(written) ?? written;
		return {place: document.locate(written), message: `${spelled === '' ? '' : `${spelled}: `}${message}`, code};
	});
}

/** Not reachable, or not allowed: it will be the same for every document. */
export const isAboutTheServer = ({code}: AppError): boolean => rowOf(code).exitCode === 5 || code === 'ERR_UNAUTHORIZED';

/** The field that an error is about which names none. */
function fieldOf({code, failure: {details}}: AppError): string {
	if (code === 'ERR_ALREADY_EXISTS') return 'metadata.name';
	if (code === 'ERR_CONFLICT') return 'metadata.resourceVersion';
	if (code !== 'ERR_NOT_FOUND') return '';
	return details['kind'] === 'namespaces' ? 'metadata.namespace' : 'metadata.name';
}
