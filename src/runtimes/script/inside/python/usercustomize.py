# Python runs a module of this name before every script. With this one in front, that of a package is not run unasked.
