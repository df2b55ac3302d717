/** Says in words why a file could not be read or written. */
export function describeFileError(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  switch (code) {
    case "ENOENT":
      return "there is no such file";
    case "EACCES":
    case "EPERM":
      return "there is no permission for it";
    case "EISDIR":
      return "it is a folder";
    case "ELOOP":
      return "its symbolic links lead in a circle";
    case undefined:
    default:
      return message;
  }
}
