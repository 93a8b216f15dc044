// Where no volume can be mounted on any host.

/**
 * What starts a container has to be found where it is, and as it is: root runs it in the view of the container, with the libraries and by the
 * settings of the loader that are there.
 */
const programs = /^\/(?:|usr|usr\/local|(?:usr\/(?:local\/)?)?(?:bin|sbin|lib|lib32|lib64|libx32)(?:\/.*)?)$/s;
const settings = /^\/etc(?:|\/ld\.so\..*|\/(?:nsswitch\.conf|passwd|group)(?:\/.*)?)$/s;
/** Only the kernel makes entries there. */
const kernels = /^\/(?:proc|sys)(?:\/|$)/;

/** Why nothing can be mounted at an absolute path without `.`, `..` and a slash at its end; undefined: it may be possible. */
export function unmountable(place: string): string | undefined {
	if (programs.test(place)) return 'programs that start containers are there';
	if (settings.test(place)) return 'what programs that start containers go by is there';
	return kernels.test(place) ? 'it belongs to the kernel' : undefined;
}
