"""Files of jsctl that shells and `man` look for, in the user's folders."""
