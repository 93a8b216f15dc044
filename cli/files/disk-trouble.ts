// Errors of the file system that are no bug: a full or read-only disk, a folder in the place of a file, rights that are missing.

const codes: ReadonlySet<string> = new Set([
	'EACCES',
	'EDQUOT',
	'EIO',
	'EISDIR',
	'EMFILE',
	'ENFILE',
	'ENOSPC',
	'ENOTDIR',
	'EPERM',
	'EROFS',
]);

/** What a person is told of such an error, in one line; undefined of any other, whose stack is wanted. */
export const diskTrouble = (error: unknown): string | undefined =>
	error instanceof Error && 'syscall' in error && 'code' in error && codes.has(String(error.code)) ? error.message : undefined;
